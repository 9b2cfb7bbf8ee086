#!/usr/bin/env python3
"""Shows whether a change of wording changed code.

Usage: code_only.py BEFORE [AFTER] [PATH...]

Compares the Swift files of two commits (AFTER: the work tree, unless given) without comments, string literals and white
space. Code that is interpolated into a literal counts as code. Prints the files that differ with the first differences;
exits with 1 if there are any.
"""
import difflib
import re
import subprocess
import sys

LITERAL = re.compile(r'#*"')


class Reader:
    """Reads Swift's text and keeps its code."""

    def __init__(self, text):
        self.text, self.place, self.kept = text, 0, []

    def code(self):
        while self.place < len(self.text):
            if self.text.startswith("//", self.place):
                end = self.text.find("\n", self.place)
                self.place = len(self.text) if end < 0 else end
            elif self.text.startswith("/*", self.place):
                self.block_comment()
            elif LITERAL.match(self.text, self.place):
                self.literal()
            else:
                self.keep()
        return normalized("".join(self.kept))

    def keep(self):
        self.kept.append(self.text[self.place])
        self.place += 1

    def block_comment(self):
        depth = 0
        for mark in re.compile(r"/\*|\*/").finditer(self.text, self.place):
            depth += 1 if mark[0] == "/*" else -1
            self.place = mark.end()
            if depth == 0:
                return

    def literal(self):
        hashes = LITERAL.match(self.text, self.place)[0].count("#")
        self.place += hashes
        quote = '"""' if self.text.startswith('"""', self.place) else '"'
        self.place += len(quote)
        end, escape = quote + "#" * hashes, "\\" + "#" * hashes
        self.kept.append(' "" ')
        while self.place < len(self.text) and not self.text.startswith(end, self.place):
            if not self.text.startswith(escape, self.place):
                self.place += 1
                continue
            self.place += len(escape)
            if self.text[self.place] == "(":
                self.interpolation()
            else:
                self.place += 1
        self.place += len(end)

    def interpolation(self):
        depth = 0
        self.kept.append("\\")
        while True:
            if LITERAL.match(self.text, self.place):
                self.literal()
                continue
            depth += {"(": 1, ")": -1}.get(self.text[self.place], 0)
            self.keep()
            if depth == 0:
                return


def normalized(code):
    """Without white space that means nothing; literals that are added up are one."""
    code = re.sub(r"\s+", " ", code)
    code = re.sub(r'""( \+ "" ?)+', '""', re.sub(r" +", " ", code))
    code = re.sub(r"\s*([^\w\s])\s*", r"\1", code)
    return re.sub(r",([)\]])", r"\1", code)


def text(commit, path):
    if commit is None:
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""
    shown = subprocess.run(["git", "show", f"{commit}:{path}"], capture_output=True, text=True)
    return shown.stdout if shown.returncode == 0 else ""


def main():
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    is_commit = len(arguments) > 1 and subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", arguments[1] + "^{commit}"], stdout=subprocess.DEVNULL).returncode == 0
    before, after = arguments[0], arguments[1] if is_commit else None
    paths = arguments[2 if is_commit else 1:] or ["."]
    names = subprocess.run(
        ["git", "diff", "--name-only", before, *([after] if after else []), "--", *paths],
        capture_output=True, text=True, check=True).stdout.split()
    names = [name for name in names if name.endswith(".swift")]
    different = 0
    for name in names:
        old, new = Reader(text(before, name)).code(), Reader(text(after, name)).code()
        if old == new:
            continue
        different += 1
        print(name)
        if max(len(old), len(new)) > 20_000:
            continue
        changes = [change for change in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
                   if change[0] != "equal"]
        for _, start, end, new_start, new_end in changes[:4]:
            print("   -", old[max(0, start - 15):end + 15])
            print("   +", new[max(0, new_start - 15):new_end + 15])
    print(f"{len(names)} files differ, {different} in code")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
