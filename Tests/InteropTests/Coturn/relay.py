"""Two of our peers, relay-only, through coturn on 127.0.0.1: UDP, TCP and TLS, and errors."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from probes import Call

HOST = "127.0.0.1"
PORT, TLS_PORT, SECRET_PORT = os.environ["TURN_PORT"], os.environ["TURN_TLS_PORT"], os.environ["TURN_SECRET_PORT"]
CREDENTIAL = ["--user", "user", "--credential", "secret"]
BASE = ["--bind", HOST, "--relay"]


def check(name, left, right, transports, restart=True):
    with Call(BASE + left, BASE + right) as call:
        call.flows()
        kinds = [probe.pair[:3] for probe in call.probes]
        for probe, transport in zip(call.probes, transports):
            assert probe.pair[0] == "relay" and probe.pair[2] == transport, kinds
            texts = [c for c in probe.candidates if c]
            assert texts and all(" typ relay " in c for c in texts), texts
        if restart:
            call.probes[0].write("restart")
            call.flows(100)
        print(f"ok: {name}: {kinds}, connected after {call.connected_after:.2f} s")


udp = ["--server", f"turn:{HOST}:{PORT}"] + CREDENTIAL
tcp = ["--server", f"turn:{HOST}:{PORT}?transport=tcp"] + CREDENTIAL
tls = ["--server", f"turns:{HOST}:{TLS_PORT}", "--ca", os.environ["TURN_CA"]] + CREDENTIAL
secret = ["--server", f"turn:{HOST}:{SECRET_PORT}", "--secret", "north"]

check("UDP on both sides", udp, udp, ["udp", "udp"])
check("TCP on both sides", tcp, tcp, ["tcp", "tcp"])
check("TLS on both sides", tls, tls, ["tls", "tls"])
check("TLS and UDP", tls, udp, ["tls", "udp"])
check("time-limited credentials", secret, secret, ["udp", "udp"])

# One server over several transports: the most direct one is used.
several = ["--server", f"turns:{HOST}:{TLS_PORT}", "--server", f"turn:{HOST}:{PORT}?transport=tcp"] + udp
check("UDP first of three ways", several + ["--ca", os.environ["TURN_CA"]], udp, ["udp", "udp"], restart=False)


ipv6 = ["--server", "turn:[::1]:34800", "--bind", "::1"] + CREDENTIAL
check("IPv6", ipv6, ipv6, ["udp", "udp"])


def check_error(name, options, code):
    with Call(BASE + options, BASE + options) as call:
        call.until(lambda c: c.probes[0].errors, 15, name)
        error = call.probes[0].errors[0].split(" ")
        assert error[1] == code, call.summary()
        print(f"ok: {name}: {' '.join(error)}")


check_error("a wrong password", udp[:-1] + ["wrong"], "401")
check_error("a server with an untrusted certificate", ["--server", f"turns:{HOST}:{TLS_PORT}"] + CREDENTIAL, "701")
check_error("a closed port", ["--server", f"turn:{HOST}:9?transport=tcp"] + CREDENTIAL, "701")
