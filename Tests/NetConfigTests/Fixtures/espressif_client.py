#!/usr/bin/python3
"""A client that provisions one device: espressif_client.py PORT. Its orders come as JSON on standard input; what happened
goes out as one line of JSON. No secret stands in an argument."""
import http.client
import json
import sys

from espressif import Client, fields, message, one, signed


def main():
    order = json.load(sys.stdin)
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=20)
    headers = {"Content-type": "application/x-www-form-urlencoded"}

    def post(endpoint, body):
        connection.request("POST", "/" + endpoint, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        if answer.getheader("Set-Cookie"):
            headers["Cookie"] = answer.getheader("Set-Cookie")
        if answer.status != 200:
            raise Refused(endpoint, answer.status, answer.getheader("Retry-After"))
        return data

    result = {"version": json.loads(post("proto-ver", b"?"))}
    client = Client(order["security"], order.get("pop", ""), order.get("user", ""), order.get("password", ""))
    first = post("prov-session", client.first())
    cipher = client.finish(post("prov-session", client.second(first)))
    sealed_before = []

    def ask(endpoint, plain):
        sealed = cipher.seal(plain)
        sealed_before.append(sealed)
        if order.get("tamper") == endpoint:
            sealed = sealed[:-1] + bytes([sealed[-1] ^ 1])
        if order.get("replay") == endpoint:
            sealed = sealed_before[0]
        return fields(cipher.open(post(endpoint, sealed)))

    scan = ask("prov-scan", message((10, message((1, 1), (3, 5), (4, 120)))))
    assert one(scan, 1) == 1 and one(scan, 2) == 0, scan
    status = fields(one(ask("prov-scan", message((1, 2), (12, None))), 13, b""))
    networks, count = [], one(status, 2)
    assert one(status, 1) == 1
    while len(networks) < count:
        page = fields(one(ask("prov-scan", message((1, 4), (14, message((1, len(networks)), (2, 4))))), 15, b""))
        for entry in map(fields, page.get(1, [])):
            networks.append({"ssid": one(entry, 1, b"").decode(), "channel": one(entry, 2),
                             "rssi": signed(one(entry, 3)), "bssid": one(entry, 4, b"").hex(), "auth": one(entry, 5)})
    result["networks"] = networks
    wanted = message((1, order["ssid"]), (2, order["passphrase"]))
    result["set"] = one(fields(one(ask("prov-config", message((1, 2), (12, wanted))), 13, b"")), 1)
    if order.get("token"):
        bind = ask("iotlink-bind", message((1, order["hub"]), (2, order["token"])))
        result["device"] = one(bind, 2, b"").decode()
        result["fingerprint"] = one(bind, 3, b"").hex()
    if result["set"] == 0:
        result["apply"] = one(fields(one(ask("prov-config", message((1, 4), (14, None))), 15, b"")), 1)
        while True:
            state = fields(one(ask("prov-config", message((10, None))), 11, b""))
            if one(state, 2) != 1:
                break
        result["state"], result["reason"] = one(state, 2), one(state, 10, None)
        if one(state, 2) == 0:
            result["address"] = one(fields(one(state, 11, b"")), 1, b"").decode()
            while order.get("token"):
                bind = ask("iotlink-bind", b"\x0a\x00")
                result["bind"] = one(bind, 1)
                result["code"] = one(bind, 4)
                if result["bind"] != 1:
                    break
    print(json.dumps(result))


class Refused(Exception):
    pass


try:
    main()
except Refused as refused:
    print(json.dumps({"endpoint": refused.args[0], "status": refused.args[1], "retryAfter": refused.args[2]}))
