"""A real daemon with cameras, for independent peers."""

import json
import os
import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "Samples"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(what, is_true, limit=20.0):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        value = is_true()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"{what} did not come within {limit} s")


class Daemon:
    """A daemon with its API at a TCP port and at a Unix socket."""

    def __init__(self, folder, cameras, origin="", media="", others=(), prefix=(), recorded=()):
        """`cameras`: a file in Samples, or a path, by camera name; `others`: names and URLs of cameras for which the
        constructor does not wait; `prefix`: a command that prepares the environment and then executes the daemon;
        `recorded`: the names of the cameras that are recorded continuously."""
        self.folder = pathlib.Path(folder)
        self.prefix = list(prefix)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        urls = [(name, SAMPLES / file) for name, file in cameras.items()] + list(others)
        records = {name: ", record: continuous" for name in recorded}
        entries = "".join(f"  - {{name: {name}, url: '{url}'{records.get(name, '')}}}\n" for name, url in urls)
        origins = f"'{origin}'" if origin else ""
        (self.folder / "iotvideod.yaml").write_text(
            f"dataDirectory: {folder}/data\nsocket: {folder}/s\n"
            f"api: {{listen: '127.0.0.1:{self.port}', allowedOrigins: [{origins}]}}\n{media}cameras:\n{entries}"
        )
        try:
            self.start()
            self._prepare(cameras)
        except BaseException:
            self.process.kill()
            raise

    def _prepare(self, cameras):
        token = self.local("POST", "/v1/tokens", {"kind": "api", "ttlSeconds": 3600, "actions": ["view"]})
        self.token = token["token"]
        for name in cameras:
            eventually(f"camera {name}", lambda: self.camera(name)["state"] == "ready")

    def start(self):
        with open(self.folder / "out", "w") as out, open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(
                [*self.prefix, os.environ["DAEMON"], "--config", f"{self.folder}/iotvideod.yaml"],
                stdout=out,
                stderr=log,
            )
        eventually("the daemon's ready line", self._is_ready, 60)

    def _is_ready(self):
        assert self.process.poll() is None, self.log()
        return "is ready" in (self.folder / "out").read_text()

    def log(self):
        return (self.folder / "log").read_text()

    def local(self, method, path, body=None):
        """Sends a request as the owner, at the Unix socket."""
        command = ["curl", "-sS", "--fail-with-body", "--unix-socket", f"{self.folder}/s", "-X", method]
        if body is not None:
            command += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
        return json.loads(subprocess.run(command + [f"http://localhost{path}"], check=True, capture_output=True).stdout)

    def request(self, method, path, body=None, **headers):
        """Sends a request at the TCP port, with the token for `view`; returns status, body and headers."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(
            self.url + path, method=method, data=body, headers={"Authorization": f"Bearer {self.token}", **headers}
        )
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read(), error.headers

    def camera(self, name):
        return next(c for c in self.local("GET", "/v1/cameras")["cameras"] if c["name"] == name)

    def viewers(self):
        return [camera["viewers"] for camera in self.local("GET", "/v1/cameras")["cameras"]]

    def stop(self):
        self.process.terminate()
        assert self.process.wait(20) == 0, self.log()
