#!/usr/bin/python3
"""A device in provisioning mode on a port of its own, which it prints first. What it is comes as one line of JSON on
standard input; when its input ends, it prints as JSON what it was given, and ends."""
import http.server
import json
import sys
import threading

from espressif import Device, WrongProof, fields, message, one

site = json.loads(sys.stdin.readline())
got = {"requests": [], "proofs": 0}
state = {"cipher": None, "device": None, "polls": 0, "cookie": 0, "joined": False}


def answer(endpoint, body, same_session):
    """→ status, body, new cookie."""
    if endpoint == "proto-ver":
        about = {"ver": "netprov-v1.2", "sec_ver": site["security"], "sec_patch_ver": site.get("patch", 1),
                 "cap": ["wifi_prov", "wifi_scan"]}
        return 200, json.dumps({"prov": about, "iotlink": {"ver": "1", "cap": ["bind"] if site.get("binds") else []}}
                               ).encode()
    if endpoint == "prov-session":
        if state["device"] is None or not same_session:
            state["device"] = Device(site["security"], site.get("pop", ""), site.get("user", ""),
                                     site.get("password", ""))
        try:
            reply, cipher = state["device"].answer(body)
        except WrongProof:
            got["proofs"] += 1
            return None, b""
        state["cipher"] = cipher
        return 200, reply
    if state["cipher"] is None or not same_session:
        return None, b""
    plain = fields(state["cipher"].open(body))
    kind = one(plain, 1) if endpoint != "iotlink-bind" else 0
    got["requests"].append([endpoint, kind])
    reply = None
    if endpoint == "prov-scan" and kind == 0:
        assert one(fields(one(plain, 10, b"")), 1) == 1
        reply = message((1, 1), (11, None))
    elif endpoint == "prov-scan" and kind == 2:
        reply = message((1, 3), (13, message((1, 1), (2, len(site["networks"])))))
    elif endpoint == "prov-scan":
        wanted = fields(one(plain, 14, b""))
        page = site["networks"][one(wanted, 1):][:one(wanted, 2)]
        entries = [(1, message((1, each["ssid"]), (2, each["channel"]), (3, each["rssi"]),
                               (4, bytes.fromhex(each["bssid"])), (5, each["auth"]))) for each in page]
        reply = message((1, 5), (15, message(*entries)))
    elif endpoint == "iotlink-bind":
        if one(plain, 2, b""):
            got["hub"], got["token"] = one(plain, 1, b"").decode(), one(plain, 2, b"").decode()
        status = 0 if "token" not in got else 2 if state["joined"] else 1
        reply = message((1, status), (2, site["id"]), (3, bytes.fromhex(site.get("fingerprint", ""))))
    elif kind == 2:
        wanted = fields(one(plain, 12, b""))
        got["ssid"], got["passphrase"] = one(wanted, 1, b"").decode(), one(wanted, 2, b"").decode()
        reply = message((1, 3), (13, None))
    elif kind == 4:
        reply = message((1, 5), (15, None))
    elif kind == 0:
        state["polls"] += 1
        if state["polls"] < 2:
            inner = message((2, 1), (12, message((1, 3))))
        elif "reason" in site:
            # A reason of 0 in a oneof is on the wire.
            inner = message((2, 3)) + bytes([10 << 3, site["reason"]])
        else:
            state["joined"] = True
            inner = message((11, message((1, "192.0.2.9"), (2, 3), (3, got["ssid"]), (4, b"\2\0\0\0\0\1"), (5, 6))))
        reply = message((1, 1), (11, inner))
    if site.get("vanishes") == [endpoint, kind]:
        return None, b""
    return 200, state["cipher"].seal(reply)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        same = self.headers["Cookie"] == "session=%d" % state["cookie"]
        status, reply = answer(self.path[1:], body, same)
        if status is None:
            # As the real device: it ends the connection.
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        if not same:
            state["cookie"] += 1
            self.send_header("Set-Cookie", "session=%d" % state["cookie"])
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
print(json.dumps(got), flush=True)
