#!/usr/bin/python3
"""Runs a command with the rights that a systemd unit gives it, on a machine where systemd does not run.

Applies the user, the capabilities, the mounts and the system call filters of the unit's [Service] section. For tests of
the packaged unit. Needs root, util-linux, python3-seccomp, and systemd-analyze for the groups of system calls.

Usage: as_unit.py UNIT [DROP-IN…] [--user NAME] [--visible PATH]… [--writable PATH]… [-- COMMAND…]

--user      replaces the unit's User= and Group=, which a machine without the package lacks
--visible   a file or folder that the command can read even if the unit hides it, such as the build directory
--writable  a file or folder that the command can read and write even if the unit hides it
COMMAND     replaces ExecStart=

A key of the unit that is neither in `EMULATED` nor in `LEFT_OUT` is an error, so that a new key is not silently ignored.
"""
import ctypes
import errno
import grp
import os
import pwd
import shlex
import stat
import subprocess
import sys

EMULATED = {
    "User", "Group", "SupplementaryGroups", "ExecStart", "UMask", "LimitNOFILE", "Environment",
    "StateDirectory", "StateDirectoryMode", "RuntimeDirectory", "RuntimeDirectoryMode",
    "CapabilityBoundingSet", "AmbientCapabilities", "NoNewPrivileges",
    "ProtectSystem", "ReadWritePaths", "ProtectHome", "PrivateTmp", "PrivateDevices", "DevicePolicy", "DeviceAllow", "ProtectProc",
    "ProcSubset", "PrivateNetwork",
    "RestrictAddressFamilies", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality",
    "SystemCallFilter", "SystemCallErrorNumber", "MemoryDenyWriteExecute",
}
# Keys for starting and stopping, keys that the emulated mounts and filters include, and keys that need systemd.
LEFT_OUT = {
    "Type", "ExecReload", "Restart", "RestartSec", "TimeoutStartSec", "TimeoutStopSec", "KillMode", "ConfigurationDirectory",
    "PrivateMounts", "ProtectClock", "ProtectControlGroups", "ProtectHostname", "ProtectKernelLogs",
    "ProtectKernelModules", "ProtectKernelTunables", "RemoveIPC", "SystemCallArchitectures",
}
# Keys with lists: each line adds to the list, and an empty value clears it (systemd.exec(5)).
LISTS = {
    "SupplementaryGroups", "AmbientCapabilities", "CapabilityBoundingSet", "RestrictAddressFamilies",
    "SystemCallFilter", "Environment", "ExecStart", "DeviceAllow", "ReadWritePaths",
}


# The kernel's fixed numbers (Documentation/admin-guide/devices.txt).
MAJORS = {"video4linux": 81, "alsa": 116}


def read(paths):
    keys = {}
    for path in paths:
        section = None
        for line in open(path):
            line = line.strip()
            if line.startswith("["):
                section = line
            elif section == "[Service]" and line and not line.startswith(("#", ";")):
                key, _, value = line.partition("=")
                if key not in EMULATED | LEFT_OUT:
                    sys.exit(f"as_unit: {path}: {key} is unknown to as_unit.py")
                if key not in LISTS:
                    keys[key] = value
                elif value:
                    keys.setdefault(key, []).append(value)
                else:
                    keys[key] = []
    return keys


def mount(*arguments):
    # The arguments name inherited descriptors.
    subprocess.run(["mount", *arguments], check=True, close_fds=False)


def handle(path):
    """Opens a folder or file, so that it can still be reached after another mount hides it."""
    descriptor = os.open(path, os.O_PATH)
    os.set_inheritable(descriptor, True)
    return descriptor


def unshare(flag):
    if ctypes.CDLL(None, use_errno=True).unshare(flag) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def make_root(keys, writable, visible):
    """Creates a root directory with the unit's view of the file system, and changes to it."""
    root = "/run/as-unit"
    os.makedirs(root, exist_ok=True)
    unshare(0x20000)  # CLONE_NEWNS
    # Fails in a chroot, where / is not a mount; the chroot's creator has then made the mounts private.
    subprocess.run(["mount", "--make-rprivate", "/"], stderr=subprocess.DEVNULL)
    mount("--rbind", "/", root)
    mount("--make-rprivate", root)
    private = [path for key, path in (("PrivateTmp", "/tmp"), ("PrivateTmp", "/var/tmp")) if keys.get(key) == "yes"]
    private += ["/home", "/root", "/run/user"] if keys.get("ProtectHome") == "yes" else []
    # Opened before the mounts below hide them.
    sources = {path: handle(path) for path in visible + writable}
    for path in private:
        if os.path.isdir(root + path):
            mount("-t", "tmpfs", "-o", "mode=1777" if "tmp" in path else "mode=755", "tmpfs", root + path)
    for path, descriptor in sources.items():
        if os.path.isdir(path):
            os.makedirs(root + path, exist_ok=True)
        elif not os.path.exists(root + path):
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            open(root + path, "w").close()
        mount("--bind", f"/proc/self/fd/{descriptor}", root + path)
    if keys.get("PrivateDevices") == "yes" or keys.get("DevicePolicy") == "closed":
        # systemd's DevicePolicy= leaves the other devices visible and denies opening them.
        make_devices(root, allowed_devices(keys.get("DeviceAllow", [])))
    if keys.get("ProcSubset") == "pid" or keys.get("ProtectProc") == "invisible":
        mount("-t", "proc", "-o", f"hidepid={keys.get('ProtectProc', '0')},subset={keys.get('ProcSubset', 'pid')}", "proc",
              root + "/proc")
    if keys.get("ProtectSystem") == "strict":
        protect(root, writable + [path for path in private if "tmp" in path])
    os.chroot(root)
    os.chdir("/")


def allowed_devices(rules):
    """The names below /dev of the character devices that DeviceAllow= names by their driver."""
    drivers = {rule.split()[0].removeprefix("char-") for rule in rules}
    # /proc/devices lists a driver only while its module is loaded.
    majors = {MAJORS[driver] for driver in drivers if driver in MAJORS}
    for line in open("/proc/devices").read().split("Block devices:")[0].splitlines():
        number, _, name = line.strip().partition(" ")
        if name in drivers:
            majors.add(int(number))
    found = []
    for folder, _, names in os.walk("/dev"):
        for name in names:
            path = os.path.join(folder, name)
            node = os.lstat(path)
            if stat.S_ISCHR(node.st_mode) and os.major(node.st_rdev) in majors:
                found.append(os.path.relpath(path, "/dev"))
    return found


def make_devices(root, allowed):
    names = ["null", "zero", "full", "random", "urandom", "tty"] + allowed
    sources = {name: handle("/dev/" + name) for name in names}
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", root + "/dev")
    for name, descriptor in sources.items():
        os.makedirs(os.path.dirname(f"{root}/dev/{name}"), exist_ok=True)
        open(f"{root}/dev/{name}", "w").close()
        mount("--bind", f"/proc/self/fd/{descriptor}", f"{root}/dev/{name}")


def protect(root, writable):
    """Makes every mount read-only except /dev, /proc, /sys and `writable`, like ProtectSystem=strict."""
    lines = [line.split() for line in open("/proc/self/mountinfo")]
    places = sorted({line[4].encode().decode("unicode_escape") for line in lines})
    free = [root + path for path in ["/dev", "/proc", "/sys", *writable]]
    for place in places:
        if place != root and not place.startswith(root + "/"):
            continue
        if any(place == path or place.startswith(path + "/") for path in free):
            continue
        # Fails for a mount that another mount hides.
        subprocess.run(["mount", "-o", "remount,bind,ro", place], stderr=subprocess.DEVNULL)


# MARK: System calls

def calls(names):
    """The system calls in `names`, with systemd's groups expanded."""
    found, left = set(), list(names)
    while left:
        name = left.pop()
        if not name.startswith("@"):
            found.add(name)
            continue
        listed = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True)
        left += [line.strip() for line in listed.stdout.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return found


def filters(keys):
    """The seccomp filters to load, in this order."""
    import seccomp
    number = getattr(errno, keys.get("SystemCallErrorNumber", "EPERM"))
    allowed = set()
    for value in keys.get("SystemCallFilter", []):
        if value.startswith("~"):
            allowed -= calls(value[1:].split())
        else:
            allowed |= calls(value.split())
    known = {}
    for name in allowed:
        resolved = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
        # Negative for a system call of another architecture, or one that the library does not know.
        if resolved >= 0:
            known[name] = resolved
    made = []
    if allowed:
        system = seccomp.SyscallFilter(seccomp.ERRNO(number))
        for name in known:
            system.add_rule(seccomp.ALLOW, name)
        made.append(system)
    rest = seccomp.SyscallFilter(seccomp.ALLOW)
    refuse = seccomp.ERRNO(errno.EPERM)
    families = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_PACKET": 17}
    if "RestrictAddressFamilies" in keys:
        given = {families[name] for value in keys["RestrictAddressFamilies"] for name in value.split()}
        for family in range(0, 46):
            if family not in given:
                rest.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.EQ, family))
    if keys.get("MemoryDenyWriteExecute") == "yes":
        # Mapping memory as both writable and executable, and making mapped memory executable (systemd.exec(5)).
        rest.add_rule(refuse, "mmap", seccomp.Arg(2, seccomp.MASKED_EQ, 6, 6))
        rest.add_rule(refuse, "mprotect", seccomp.Arg(2, seccomp.MASKED_EQ, 4, 4))
        rest.add_rule(refuse, "pkey_mprotect", seccomp.Arg(2, seccomp.MASKED_EQ, 4, 4))
    if keys.get("RestrictNamespaces") == "yes":
        for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
            rest.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
            rest.add_rule(refuse, "unshare", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
        rest.add_rule(refuse, "setns")
    if keys.get("RestrictRealtime") == "yes":
        for policy in (1, 2, 6):
            rest.add_rule(refuse, "sched_setscheduler", seccomp.Arg(1, seccomp.MASKED_EQ, 0xF, policy))
    if keys.get("RestrictSUIDSGID") == "yes":
        for mode in (0o4000, 0o2000):
            for name, place in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2)):
                rest.add_rule(refuse, name, seccomp.Arg(place, seccomp.MASKED_EQ, mode, mode))
    if keys.get("LockPersonality") == "yes":
        rest.add_rule(refuse, "personality", seccomp.Arg(0, seccomp.NE, 0xFFFFFFFF))
    # This filter may forbid loading another one, so it is the last.
    made = [rest] + made
    if "User" not in keys and keys.get("NoNewPrivileges") != "yes":
        for each in made:
            # The library's default sets it.
            each.set_attr(seccomp.Attr.CTL_NNP, 0)
    return made


# MARK: User and capabilities

PR_SET_KEEPCAPS, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 8, 24, 38, 47
CAPABILITIES = {"CAP_NET_BIND_SERVICE": 10}


def numbers(values):
    return {CAPABILITIES[name] for value in values for name in value.split()}


def become(keys, user):
    library = ctypes.CDLL(None, use_errno=True)

    def control(*arguments):
        if library.prctl(*[ctypes.c_ulong(each) for each in arguments]) != 0:
            raise OSError(ctypes.get_errno(), "prctl", arguments)

    if not user and "User" not in keys:
        # systemd leaves root its capabilities.
        unknown = {"Group", "SupplementaryGroups", "CapabilityBoundingSet", "AmbientCapabilities", "NoNewPrivileges"} & set(keys)
        if unknown:
            sys.exit(f"as_unit: {', '.join(sorted(unknown))} of a unit without User= is not supported")
        return
    entry = pwd.getpwnam(user or keys["User"])
    group = entry.pw_gid if user else grp.getgrnam(keys.get("Group", keys["User"])).gr_gid
    others = [grp.getgrnam(name).gr_gid for value in keys.get("SupplementaryGroups", []) for name in value.split()]
    bounds = numbers(keys.get("CapabilityBoundingSet", [])) if "CapabilityBoundingSet" in keys else set(range(41))
    ambient = numbers(keys.get("AmbientCapabilities", [])) & bounds
    for number in range(int(open("/proc/sys/kernel/cap_last_cap").read()) + 1 if os.path.exists("/proc/sys") else 41):
        if number not in bounds:
            control(PR_CAPBSET_DROP, number)
    control(PR_SET_KEEPCAPS, 1)
    os.setgroups(sorted({group, *others, *os.getgrouplist(entry.pw_name, group)}))
    os.setresgid(group, group, group)
    os.setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid)
    mask = sum(1 << number for number in ambient)
    # capset(2), version 3: effective, permitted and inheritable, first the low 32 bits of each, then the high 32 bits.
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    words = (ctypes.c_uint32 * 6)(*[mask & 0xFFFFFFFF] * 3, *[mask >> 32] * 3)
    if library.capset(header, words) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    for number in ambient:
        control(PR_CAP_AMBIENT, 2, number, 0, 0)
    if keys.get("NoNewPrivileges") == "yes":
        control(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def directories(keys, user):
    """Creates the unit's directories. With `user`, they may belong to the machine's installed service: then no state
    directory is created, and another user's runtime directory is an error."""
    entry = pwd.getpwnam(user or keys.get("User", "root"))
    made = []
    for key, place, variable in (
        ("StateDirectory", "/var/lib", "STATE_DIRECTORY"), ("RuntimeDirectory", "/run", "RUNTIME_DIRECTORY"),
    ):
        if key not in keys or user and key == "StateDirectory":
            continue
        path = f"{place}/{keys[key]}"
        # systemd.exec(5), "Environment Variables Set on Spawned Processes"
        os.environ[variable] = path
        made.append(path)
        if user and os.path.exists(path) and os.stat(path).st_uid != entry.pw_uid:
            sys.exit(f"as_unit: {path} belongs to another user: run this in a mount namespace with its own /run")
        os.makedirs(path, exist_ok=True)
        os.chmod(path, int(keys.get(key + "Mode", "0755"), 8))
        os.chown(path, entry.pw_uid, entry.pw_gid)
    return made


def main():
    arguments, command = sys.argv[1:], None
    if "--" in arguments:
        command = arguments[arguments.index("--") + 1:]
        arguments = arguments[:arguments.index("--")]
    units, visible, writable, user = [], [], [], None
    while arguments:
        argument = arguments.pop(0)
        if argument == "--user":
            user = arguments.pop(0)
        elif argument == "--visible":
            visible.append(arguments.pop(0))
        elif argument == "--writable":
            writable.append(arguments.pop(0))
        else:
            units.append(argument)
    keys = read(units)
    command = command or shlex.split(keys["ExecStart"][-1])
    for value in keys.get("Environment", []):
        for item in shlex.split(value):
            name, _, text = item.partition("=")
            os.environ[name] = text
    prepared = filters(keys)
    made = directories(keys, user)
    if keys.get("PrivateNetwork") == "yes":
        unshare(0x40000000)  # CLONE_NEWNET
    shared = [path for value in keys.get("ReadWritePaths", []) for path in value.split()]
    make_root(keys, writable + made + shared, visible)
    if "LimitNOFILE" in keys:
        import resource
        # A container may have a lower limit.
        limit = min(int(keys["LimitNOFILE"]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    os.umask(int(keys.get("UMask", "0022"), 8))
    become(keys, user)
    for each in prepared:
        each.load()
    os.execvp(command[0], command)


main()
