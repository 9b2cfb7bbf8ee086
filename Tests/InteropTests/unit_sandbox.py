"""Runs programs from .build with the rights of the packaged service (packaging/iotvideod.service)."""

import pathlib
import shutil

from daemon import ROOT

PACKAGING = ROOT / "packaging"
UNIT = PACKAGING / "iotvideod.service"
# The package's user does not exist here. This user owns no files.
USER = "nobody"


def unit(*drop_ins, visible=(), writable=()):
    """The command prefix that runs a command with these rights; `drop_ins`: names in packaging/provisioning, or paths."""
    command = ["/usr/bin/python3", "-B", str(PACKAGING / "as_unit.py"), str(UNIT)]
    command += [str(PACKAGING / "provisioning" / name) for name in drop_ins]
    command += ["--user", USER]
    # Debug programs load the Swift runtime from the toolchain, which may be below a home directory.
    swift = pathlib.Path(shutil.which("swift") or "/usr/bin/swift").resolve().parents[1]
    for path in [ROOT, *([swift] if swift != pathlib.Path("/usr") else []), *visible]:
        command += ["--visible", str(path)]
    for path in writable:
        command += ["--writable", str(path)]
    return [*command, "--"]
