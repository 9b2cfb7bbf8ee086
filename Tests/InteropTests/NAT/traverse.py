"""Calls between the namespaces of test.sh, with one kind of NAT after another."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from probes import Call

NS = os.environ["NS"]
SERVER = ["--server", "stun:192.0.2.100", "--server", "turn:192.0.2.100", "--server", "turn:192.0.2.100?transport=tcp",
          "--user", "user", "--credential", "secret"]
HERE = os.path.dirname(os.path.abspath(__file__))


def inside(space):
    return ["ip", "netns", "exec", NS + space]


# The kernel keeps the port if it can, and lets in only answers: port-restricted. A random port for each connection
# makes it symmetric. Unsolicited packets are dropped before they create a connection entry.
MASQUERADE = {"restricted": "masquerade", "symmetric": "masquerade fully-random", "blocked": "masquerade"}


def set_nat(space, kind):
    forward = "meta l4proto udp drop;" if kind == "blocked" else ""
    rules = f"""
        flush ruleset
        table ip nat {{
            chain out {{ type nat hook postrouting priority 100; oifname "wan0" {MASQUERADE[kind]}; }}
        }}
        table ip filter {{
            chain in {{ type filter hook input priority 0; iifname "wan0" meta l4proto udp drop; }}
            chain forward {{ type filter hook forward priority 0; {forward} }}
        }}"""
    subprocess.run([*inside(space), "nft", "-f", "-"], input=rules, text=True, check=True)


def call(left, right, expects_relay):
    set_nat("natleft", left)
    set_nat("natright", right)
    with Call(SERVER, SERVER, inside("left"), inside("right")) as it:
        it.flows()
        pairs = [probe.pair[:3] for probe in it.probes]
        uses_relay = any("relay" in pair[:2] for pair in pairs)
        assert uses_relay == expects_relay, it.summary()
        assert it.connected_after < 5, it.connected_after
        it.probes[1].write("restart")
        it.flows(100)
        print(f"ok: {left} and {right}: {pairs}, connected after {it.connected_after:.2f} s")


call("restricted", "restricted", False)
call("restricted", "symmetric", True)
call("symmetric", "restricted", True)
call("symmetric", "symmetric", True)
call("blocked", "restricted", True)
call("symmetric", "blocked", True)


class HiddenCall(Call):
    """The offerer's candidates contain a name instead of the address, like a browser's."""

    def step(self):
        for probe in self.probes:
            if not getattr(probe, "is_hooked", False):
                probe.is_hooked = True
                write = probe.write
                probe.write = lambda line, write=write: write(hide(line))
        super().step()


def hide(line):
    import base64
    if line.startswith("description "):
        text = base64.b64decode(line.split(" ")[1]).decode()
        return "description " + base64.b64encode(text.replace(" 192.0.2.50 ", " 1f0e-50.local ").encode()).decode()
    return line.replace(" 192.0.2.50 ", " 1f0e-50.local ")


responder = subprocess.Popen([*inside("host"), sys.executable, os.path.join(HERE, "mdns.py"), "1f0e-50.local", "192.0.2.50"],
                             stdout=subprocess.PIPE, text=True)
try:
    assert responder.stdout.readline().strip() == "ready"
    with HiddenCall([], [], inside("host"), inside("wan")) as it:
        # The offerer's checks would show its address even without the name; the pair's type shows that it was resolved.
        it.flows()
        assert it.probes[1].pair[1] == "host", it.summary()
        print(f"ok: a hidden address: {it.probes[1].pair}, connected after {it.connected_after:.2f} s")
finally:
    responder.kill()
    responder.wait()
