#!/usr/bin/python3
"""A scripted wpa_supplicant: supplicant.py SOCKET. The right password comes as JSON on standard input; it ends with it."""
import json
import os
import socket
import sys
import threading

password = json.loads(sys.stdin.readline())["password"]
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1])
print("ready", flush=True)


def serve():
    psk = None
    while True:
        data, peer = server.recvfrom(4096)
        command = data.decode()
        events = []
        if command == "ADD_NETWORK":
            answer = "0\n"
        elif command == "SCAN":
            answer, events = "OK\n", ["<3>CTRL-EVENT-SCAN-STARTED ", "<3>CTRL-EVENT-SCAN-RESULTS "]
        elif command == "SCAN_RESULTS":
            answer = ("bssid / frequency / signal level / flags / ssid\n"
                      "02:00:00:00:00:01\t2437\t-60\t[WPA2-PSK-CCMP][ESS]\tHome\n")
        elif command.startswith("SET_NETWORK 0 psk "):
            answer, psk = "OK\n", command[len('SET_NETWORK 0 psk "'):-1]
        elif command.startswith("SELECT_NETWORK"):
            answer = "OK\n"
            events = (["<3>CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:00:01 completed [id=0 id_str=]"]
                      if psk == password else
                      ['<3>CTRL-EVENT-SSID-TEMP-DISABLED id=0 ssid="Home" auth_failures=1 duration=10 reason=WRONG_KEY'])
        elif command == "STATUS":
            answer = "bssid=02:00:00:00:00:01\nfreq=2437\nssid=Home\nip_address=192.0.2.9\n"
        else:
            answer = "OK\n"
        for text in [answer] + events:
            server.sendto(text.encode(), peer)


threading.Thread(target=serve, daemon=True).start()
sys.stdin.read()
os.unlink(sys.argv[1])
