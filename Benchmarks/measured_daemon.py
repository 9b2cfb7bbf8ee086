"""A daemon for measurements, and the kernel's data about it."""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """Seconds of CPU that a process has used."""
    fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class MeasuredDaemon:
    """`configuration`: the text of a configuration file, or none; `core`: the core it runs on, or any."""

    def __init__(self, binaries, cameras={}, configuration=None, core=None):
        # In the sources' folder, because the temporary folder may be memory, where fdatasync costs nothing.
        self.folder = tempfile.mkdtemp(prefix=".bench-", dir=ROOT)
        self.socket = os.path.relpath(os.path.join(self.folder, "s"))
        command = [os.path.join(binaries, "iotvideod"), "--data-dir", self.folder + "/data", "--socket", self.socket]
        for name, url in cameras.items():
            command += ["--camera", name + "=" + url]
        if configuration:
            with open(self.folder + "/iotvideod.yaml", "w") as file:
                file.write(configuration)
            command += ["--config", self.folder + "/iotvideod.yaml"]
        if core is not None:
            command = ["taskset", "-c", str(core)] + command
        self.errors = open(self.folder + "/err", "w")
        start = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        self.start_to_ready = time.monotonic() - start
        if "is ready" not in line:
            sys.exit("the daemon did not start: " + open(self.folder + "/err").read())
        self.connection = UnixConnection(self.socket)

    def send(self, method, path, body=None, type="application/json"):
        """Returns the answer and its content. Ends the program if the daemon refuses."""
        self.connection.request(method, path, body, {"Content-Type": type} if body else {})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            sys.exit("%s %s: %d %s" % (method, path, answer.status, content.decode()))
        return answer, content

    def request(self, method, path, body=None):
        _, content = self.send(method, path, body)
        return json.loads(content) if content else None

    def cpu(self):
        return cpu_seconds(self.process.pid)

    def io(self):
        """Calls and bytes since the start, by the names of /proc/PID/io."""
        lines = open("/proc/%d/io" % self.process.pid)
        return {name: int(value) for name, value in (line.split(":") for line in lines)}

    def thread_cpu(self):
        """Seconds of CPU of each living thread, summed by the kind of thread."""
        used = {}
        for task in os.listdir("/proc/%d/task" % self.process.pid):
            try:
                name = open("/proc/%d/task/%s/comm" % (self.process.pid, task)).read().strip()
                spent = int(open("/proc/%d/task/%s/schedstat" % (self.process.pid, task)).read().split()[0])
            except FileNotFoundError:
                continue
            name = "loops" if name.startswith("NIO-ELT") else "decoder" if name == "decoder" else "others"
            used[name] = used.get(name, 0) + spent / 1e9
        return used

    def pss(self):
        for line in open("/proc/%d/smaps_rollup" % self.process.pid):
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)
