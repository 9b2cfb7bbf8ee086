"""The sandbox of the packaged service (packaging/iotvideod.service), for programs that were built here."""

import pathlib
import shutil

from daemon import ROOT

PACKAGING = ROOT / "packaging"
UNIT = PACKAGING / "iotvideod.service"
# On a machine without the package; it has nothing of its own.
USER = "nobody"


def unit(*drop_ins, visible=(), writable=()):
    """What a command is run by to be in it; `drop_ins`: names in packaging/provisioning."""
    command = ["/usr/bin/python3", "-B", str(PACKAGING / "as_unit.py"), str(UNIT)]
    command += [str(PACKAGING / "provisioning" / name) for name in drop_ins]
    command += ["--user", USER]
    # A debug program's runtime is the toolchain's, which may be in a home.
    swift = pathlib.Path(shutil.which("swift") or "/usr/bin/swift").resolve().parents[1]
    for path in [ROOT, *([swift] if swift != pathlib.Path("/usr") else []), *visible]:
        command += ["--visible", str(path)]
    for path in writable:
        command += ["--writable", str(path)]
    return [*command, "--"]
