#!/usr/bin/env python3
"""Writes man/iotctl.1 on standard output from the output of `iotctl --experimental-dump-help`: iotctl.py IOTCTL."""

import json
import re
import subprocess
import sys

INTRO = r""".TH IOTCTL 1 "" "iotvideod" "User commands"
.SH NAME
iotctl \- command line of the IoT camera gateway
.SH SYNOPSIS
.B iotctl
.I command
.RI [ arguments ]
.SH DESCRIPTION
.B iotctl
controls
.BR iotvideod (8)
through its HTTP API: it lists and watches cameras, reads and writes their thing models, shares them, and makes tokens.
.PP
It finds the daemon with
.BR \-\-url ,
.BR \-\-socket ,
the variable
.BR IOTCTL_SOCKET ,
the user's own socket,
.IR $XDG_RUNTIME_DIR/iotvideod.sock ,
and then the system's,
.IR /run/iotvideod/iotvideod.sock .
A device is identified by its id or its name.
The common options may also be before the command.
.PP
Commands with
.B \-\-yes
ask before they remove something; if standard input is not a terminal, they need it.
.PP
Another machine's certificate is accepted if the authority of
.BR \-\-ca ,
or one that the system trusts, has signed it.
Otherwise
.B iotctl
shows the fingerprint of the certificate's authority (or of a self\-signed certificate) and asks whether to trust it, like
.BR ssh (1);
without a terminal it refuses the certificate.
Later, a certificate of another authority is refused.
.PP
Results are tables for people, or JSON with
.BR \-\-json .
Tables are cut to the width of the terminal, but not in a file or a pipe.
Errors are printed on standard error, each with a number, a name and a remedy; with
.B \-\-json
each is one JSON object.
Secrets are read from files, standard input or a prompt; only
.B net qr
also accepts them on the command line.
"""

COMMON = r""".B net qr
and
.B net ap
take only
.B \-\-json
and
.B \-\-help
of these.
"""

OUTRO = r""".SH EXIT STATUS
.TP
.B 0
The command succeeded.
.TP
.B 1
The operation failed.
.TP
.B 2
The command line is wrong.
.TP
.B 3
The daemon is not reachable.
.TP
.B 130
A signal ended a question on the terminal: 128 plus the signal's number.
.SH ENVIRONMENT
.TP
.B IOTCTL_SOCKET
The daemon's socket.
.TP
.B IOTCTL_TOKEN_FILE
The file with the bearer token for
.BR \-\-url .
.TP
.B XDG_RUNTIME_DIR
The directory of the socket of the user's own daemon.
.TP
.B XDG_STATE_HOME
The base directory of
.IR known_hosts ;
by default
.IR ~/.local/state .
.SH FILES
.TP
.I $XDG_STATE_HOME/iotctl/known_hosts
The trusted certificates, one per line.
Remove a line to stop trusting its certificate.
.SH EXAMPLES
.nf
iotctl status
iotctl monitor front \-\-duration 5s \-\-snapshot front.png \-\-record front.mp4
iotctl camera add door rtsp://192.0.2.7/stream1 \-\-username viewer \-\-password\-file \-
iotctl token create \-\-enrol \-\-device door \-\-ttl 10m
iotctl device bind front alice \-\-action view \-\-action talk
.fi
.SH SEE ALSO
.BR iotvideod (8),
.BR iotvideod.yaml (5)
"""


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("–", "\\(en")
    text = re.sub(r"([.:;]) (?=[A-Z])", r"\1\n", text)
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def spelling(argument):
    """`--name VALUE`, in bold and italics."""
    value = argument.get("valueName", "")
    if argument["kind"] == "positional":
        name = "\\fI" + roff(value) + "\\fR"
    else:
        names = [("-" if n["kind"] == "short" else "--") + n["name"] for n in argument["names"]]
        name = ", ".join("\\fB" + roff(n) + "\\fR" for n in names)
        if argument["kind"] == "option":
            name += " \\fI" + roff(value) + "\\fR"
    return name


def usage(argument):
    text = spelling({**argument, "names": argument.get("names", [])[:1]})
    if argument.get("isOptional"):
        text = "[" + text + "]"
    return text + "..." if argument.get("isRepeating") else text


def visible(command):
    """The arguments without help and version, which every command has."""
    found = []
    for argument in command.get("arguments", []):
        if not argument.get("shouldDisplay", True):
            continue
        names = {n["name"] for n in argument.get("names", [])}
        if not names & {"help", "version"}:
            found.append(argument)
    return found


def describe(argument):
    text = [".TP", spelling(argument)]
    words = argument.get("abstract", "")
    values = argument.get("allValues")
    if values and values[0] not in words:
        words += (" " if words else "") + "One of " + ", ".join(values) + "."
    default = argument.get("defaultValue")
    if default and default.lstrip("-") in {n["name"] for n in argument.get("names", [])}:
        words += " This is the default."
    elif default and default != "false":
        words += f" (default: {default})"
    text.append(roff(words.strip()) or "\\&")
    return text


def discuss(text):
    """A command's long help: paragraphs, and indented lines that keep their form."""
    out = []
    for paragraph in re.split(r"\n\n+", text.strip()):
        lines = paragraph.split("\n")
        if lines[0] == "EXAMPLES":
            out += [".PP", "Examples:"]
            lines = lines[1:]
        elif not lines[0].startswith(" "):
            out += [".PP"]
        literal = False
        for line in lines:
            if line.startswith(" ") != literal:
                literal = not literal
                out += [".RS", ".nf"] if literal else [".fi", ".RE"]
            out.append(roff(line.strip() if literal else line))
        if literal:
            out += [".fi", ".RE"]
    return out


def leaves(command, path):
    below = [c for c in command.get("subcommands", []) if c["commandName"] != "help"]
    if not below:
        yield path, command
    for child in below:
        yield from leaves(child, path + [child["commandName"]])


def main():
    dump = subprocess.run([sys.argv[1], "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout
    root = json.loads(dump)["command"]
    commands = list(leaves(root, []))
    # The options of most commands are described once.
    counts = {}
    for _, command in commands:
        for argument in visible(command):
            if argument["kind"] != "positional":
                counts.setdefault(json.dumps(argument, sort_keys=True), []).append(argument)
    shared = {key: found[0] for key, found in counts.items() if len(found) > len(commands) * 0.6}
    out = [INTRO.rstrip("\n"), ".SH COMMON OPTIONS", COMMON.rstrip("\n")]
    for argument in shared.values():
        out += describe(argument)
    out += [".TP", "\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "Prints a command's options.", ".SH COMMANDS"]
    for path, command in commands:
        own = [a for a in visible(command) if json.dumps(a, sort_keys=True) not in shared]
        out.append(".SS " + roff(" ".join(path)))
        out.append("\\fBiotctl " + roff(" ".join(path)) + "\\fR " + " ".join(usage(a) for a in own))
        out.append(".PP")
        out.append(roff(command.get("abstract", "")))
        out += discuss(command.get("discussion", ""))
        for argument in own:
            out += describe(argument)
    out.append(OUTRO.rstrip("\n"))
    print("\n".join(line.rstrip() for line in out))


main()
