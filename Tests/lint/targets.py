#!/usr/bin/env python3
"""Checks Package.swift's targets with docs/architecture.md, and their imports with Package.swift. Part of `make lint`.

Usage: targets.py [--write]      --write updates the diagram in docs/architecture.md

1. Every library and installed program is in the table of layers, and imports only from lower layers.
2. The diagram of targets and arrows matches Package.swift.
3. A target declares exactly the modules that it imports.
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs/architecture.md")
PICTURE = re.compile(r"(<!-- targets: .*? -->\n)(.*?)(<!-- end of targets -->)", re.S)
IMPORT = re.compile(
    r"^(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|fileprivate|private) )?"
    r"import (?:(?:struct|class|enum|func|let|var|protocol|typealias) )?(\w+)", re.M)


def targets():
    """Name → (kind, folder, names of its dependencies)."""
    # Its own scratch folder, because `swift build` locks the default one.
    text = subprocess.run(
        [os.environ.get("SWIFT", "swift"), "package", "--scratch-path", ".build/lint", "dump-package"], cwd=ROOT,
        check=True, stdout=subprocess.PIPE).stdout
    found = {}
    for target in json.loads(text)["targets"]:
        name, kind = target["name"], target["type"]
        folder = target.get("path") or ("Tests/" if kind == "test" else "Sources/") + name
        found[name] = (kind, folder, [next(iter(each.values()))[0] for each in target["dependencies"]])
    return found


def floors(page):
    """Name → layer, from the table."""
    rows = re.findall(r"^\| (\d+) \| `([^`]+)`", page, re.M)
    return {name.removeprefix("Sources/").split("/")[0]: int(floor) for floor, name in rows}


def picture(all_targets, floor):
    """The diagram of the table's targets, without arrows that others imply."""
    names = sorted((name for name in all_targets if name in floor), key=lambda name: (-floor[name], name))
    below = {name: {each for each in all_targets[name][2] if each in names} for name in names}

    def reach(name):
        found = set()
        for each in below[name]:
            found |= {each} | reach(each)
        return found

    lines = ["```mermaid", "flowchart TD"]
    for level in sorted({floor[name] for name in names}, reverse=True):
        lines.append("    subgraph layer%d [layer %d]" % (level, level))
        lines += ["        " + name for name in names if floor[name] == level]
        lines.append("    end")
    for name in names:
        implied = set().union(*(reach(each) for each in below[name])) if below[name] else set()
        lines += ["    %s --> %s" % (name, each) for each in sorted(below[name] - implied)]
    return "\n".join(lines + ["```"]) + "\n"


def imports(folder, others):
    """Module → the first file that imports it; without the folders of other targets inside this one."""
    found = {}
    inside = [os.path.join(ROOT, other) + "/" for other in others if other.startswith(folder + "/")]
    for path, _, files in sorted(os.walk(os.path.join(ROOT, folder))):
        if any((path + "/").startswith(other) for other in inside):
            continue
        for file in sorted(files):
            if file.endswith(".swift"):
                name = os.path.join(path, file)
                for module in IMPORT.findall(open(name).read()):
                    found.setdefault(module, os.path.relpath(name, ROOT))
    return found


def main():
    all_targets = targets()
    page = open(PAGE).read()
    floor = floors(page)
    wrong = []
    for name, (kind, folder, needed) in all_targets.items():
        is_room = folder == "Sources/" + name
        if is_room and name not in floor:
            wrong.append("docs/architecture.md: the table of layers lacks %s" % name)
        for each in needed:
            if name in floor and each in floor and floor[each] >= floor[name]:
                wrong.append("Package.swift: %s (layer %d) imports %s (layer %d): only lower layers may be imported"
                             % (name, floor[name], each, floor[each]))
        if kind == "system":
            continue
        found = imports(folder, [other for _, other, _ in all_targets.values()])
        known = set(all_targets) | {each for _, _, more in all_targets.values() for each in more}
        for module, file in found.items():
            if module in known and module not in needed and module != name:
                wrong.append("%s imports %s, which Package.swift does not declare for %s" % (file, module, name))
        # A test of a whole program depends on it so that it is built, and does not import it.
        if kind != "test":
            for each in needed:
                if each not in found:
                    wrong.append("Package.swift: %s declares %s and imports it nowhere" % (name, each))
    for name in sorted(set(floor) - set(all_targets) - {"SystemLibraries"}):
        wrong.append("docs/architecture.md: the table of layers names %s, which is not a target" % name)

    drawn = picture(all_targets, floor)
    place = PICTURE.search(page)
    if not place:
        wrong.append("docs/architecture.md has no markers for the diagram of targets")
    elif place[2] != drawn:
        if "--write" in sys.argv[1:]:
            with open(PAGE, "w") as file:
                file.write(page[:place.start(2)] + drawn + page[place.end(2):])
        else:
            wrong.append("docs/architecture.md: the diagram of targets does not match Package.swift; "
                         "update it with Tests/lint/targets.py --write")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
