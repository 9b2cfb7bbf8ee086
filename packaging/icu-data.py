#!/usr/bin/env python3
"""Writes an object file with the part of ICU's data that the programs use, and a file with the linker's options for it.

Usage: icu-data.py FILE-OF-OPTIONS        (make build)

Foundation contains ICU, whose data have 34 MB: the texts of 800 locales, encodings, collation, word breaking. The programs
need the properties of characters, the time zones, and one locale. The linker gives ICU these data under the name of the
toolchain's, and leaves those out, because nothing uses them any more. If the toolchain has no such data, or data of
another form, there are no options; then the programs are only larger.
"""
import json
import os
import re
import struct
import subprocess
import sys

SYMBOL = re.compile(r"icudt\d+_dat")
# A locale's name begins with its language; other resources have longer names.
LOCALE = re.compile(r"[a-z]{2,3}(_.*)?")
LOCALES = ("root", "en", "en_001", "en_US", "en_US_POSIX")


def is_used(name):
    """`name`: of an item, such as `zone/de.res`."""
    folder, _, file = name.rpartition("/")
    stem, _, kind = file.rpartition(".")
    if kind == "cnv" or folder == "translit" or name == "unames.icu":
        return False
    if folder in ("", "curr", "zone"):
        return kind != "res" or not LOCALE.fullmatch(stem) or stem in LOCALES
    return stem in ("root", "pool", "res_index", "ucadata")


def parsed(data):
    """The header, and the items with their whole names, in the order of their places (ICU's ucmndata.h)."""
    size, magic = struct.unpack_from("<H2s", data)
    if magic != b"\xda\x27" or data[12:16] != b"CmnD" or data[8] != 0:
        raise ValueError("the data have another form")
    count, = struct.unpack_from("<I", data, size)
    places = [struct.unpack_from("<II", data, size + 4 + 8 * index) for index in range(count)]
    ends = [start for _, start in places[1:]] + [len(data) - size]
    items = []
    for (name, start), end in zip(places, ends):
        name = data[size + name:data.index(b"\0", size + name)].decode("ascii")
        items.append((name, data[size + start:size + end]))
    return data[:size], items


def written(header, items):
    names = [name.encode("ascii") + b"\0" for name, _ in items]
    at = 4 + 8 * len(items)
    start = -(-(at + sum(map(len, names))) // 16) * 16
    table, contents = [], b""
    for name, (_, item) in zip(names, items):
        table.append(struct.pack("<II", at, start + len(contents)))
        at += len(name)
        contents += item + bytes(-len(item) % 16)
    body = struct.pack("<I", len(items)) + b"".join(table) + b"".join(names)
    return header + body + bytes(start - len(body)) + contents


def toolchain_data():
    """The symbol's name, and its bytes."""
    swift = os.environ.get("SWIFT", "swift")
    paths = json.loads(subprocess.check_output([swift, "-print-target-info"]))["paths"]
    archive = paths["runtimeResourcePath"] + "_static/linux/lib_FoundationICU.a"
    found = re.search(r":([^:]+\.o):.* R (\S+_dat)$", subprocess.check_output(["nm", "-A", archive], text=True,
                      stderr=subprocess.DEVNULL), re.MULTILINE)
    if not found or not SYMBOL.fullmatch(found[2]):
        raise ValueError("the toolchain has no data of ICU")
    place = OBJECT + ".whole"
    with open(place + ".o", "wb") as file:
        subprocess.run(["ar", "p", archive, found[1]], stdout=file, check=True)
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.rodata", place + ".o", place], check=True)
    with open(place, "rb") as file:
        data = file.read()
    for path in (place, place + ".o"):
        os.remove(path)
    return found[2], data


def main():
    symbol, data = toolchain_data()
    header, items = parsed(data)
    kept = [(name, item) for name, item in items if is_used(name.partition("/")[2])]
    data = written(header, kept)
    with open(OBJECT + ".dat", "wb") as file:
        file.write(data)
    with open(OBJECT + ".s", "w") as file:
        file.write(f'.section .rodata\n.balign 16\n.globl used_{symbol}\nused_{symbol}:\n.incbin "{OBJECT}.dat"\n'
                   '.section .note.GNU-stack,"",%progbits\n')
    subprocess.run(["gcc", "-c", OBJECT + ".s", "-o", OBJECT], check=True)
    with open(OPTIONS, "w") as file:
        file.write(f"-Xlinker {OBJECT} -Xlinker --defsym={symbol}=used_{symbol}\n")
    print("ICU: %d of %d items, %.1f MB" % (len(kept), len(items), len(data) / 1e6))


OPTIONS = os.path.abspath(sys.argv[1])
OBJECT = os.path.join(os.path.dirname(OPTIONS), "icudata.o")
os.makedirs(os.path.dirname(OPTIONS), exist_ok=True)
try:
    main()
except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
    print(f"ICU's data stay whole: {error}")
    open(OPTIONS, "w").close()
