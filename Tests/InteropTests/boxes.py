"""Boxes on a network, each with its own network namespace, /run, D-Bus and Avahi."""

import subprocess

from daemon import eventually


class Box:
    def __init__(self, name):
        self.name = name
        self.processes = []
        self.avahi = None
        # Holds the namespaces. Its /run is its own, so that no daemon of the machine is reached.
        script = "mount -t tmpfs tmpfs /run && mkdir -p /run/dbus /run/avahi-daemon && ip link set lo up && echo ready && exec sleep infinity"
        self.holder = subprocess.Popen(["unshare", "-m", "-n", "--propagation", "private", "sh", "-c", script],
                                       stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline().strip() == "ready"

    def inside(self, *command):
        return ["nsenter", "-t", str(self.holder.pid), "-m", "-n", *command]

    def run(self, *command, **options):
        return subprocess.run(self.inside(*command), check=True, text=True, stdout=subprocess.PIPE, **options).stdout

    def start(self, *command, **options):
        process = subprocess.Popen(self.inside(*command), text=True, **options)
        self.processes.append(process)
        return process

    def stop(self, process):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start_bus(self):
        self.start("dbus-daemon", "--system", "--nofork", "--nopidfile", stderr=subprocess.DEVNULL)
        eventually("the bus", lambda: self.has("/run/dbus/system_bus_socket"))

    def start_avahi(self):
        # Another instance of the machine's own is not seen: its pid file is in the other /run.
        self.avahi = self.start("avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", "--file=/dev/null",
                                stderr=subprocess.DEVNULL)
        eventually("Avahi", lambda: self.has("/run/avahi-daemon/socket"))

    def stop_avahi(self):
        self.stop(self.avahi)

    def has(self, path):
        return subprocess.run(self.inside("test", "-e", path)).returncode == 0

    def publish(self, name, kind, port, *text):
        # Avahi's socket exists before it answers on the bus.
        return self.start("avahi-publish", "--no-fail", "-s", name, kind, str(port), *text, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL)

    def browse(self, kind="_iotlink._udp"):
        """Name → (host, address, port, strings), as avahi-browse finds them."""
        found = {}
        # It never ends when a service goes while it is resolved.
        command = self.inside("timeout", "8", "avahi-browse", "-rpt", kind)
        output = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for line in output.splitlines():
            fields = line.split(";")
            if fields[0] == "=" and len(fields) >= 10:
                name = fields[3]
                # \DDD is a byte.
                raw, i = bytearray(), 0
                while i < len(name):
                    if name[i] == "\\" and name[i + 1:i + 4].isdigit():
                        raw.append(int(name[i + 1:i + 4]))
                        i += 4
                    elif name[i] == "\\":
                        raw += name[i + 1].encode()
                        i += 2
                    else:
                        raw += name[i].encode()
                        i += 1
                found[raw.decode()] = (fields[6], fields[7], int(fields[8]), ";".join(fields[9:]))
        return found

    def has_socket(self, pid):
        """Whether a process has a socket on port 5353."""
        return f"pid={pid}," in self.run("ss", "-Hulnp", "sport = :5353")

    def close(self):
        for process in reversed(self.processes):
            self.stop(process)
        self.holder.kill()
        self.holder.wait()
