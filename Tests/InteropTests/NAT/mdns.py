"""Answers multicast DNS for one name: mdns.py NAME ADDRESS."""
import socket
import struct
import sys

name, address = sys.argv[1], sys.argv[2]
wire = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
group = "224.0.0.251"
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
sock.bind(("", 5353))
sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton(address))
sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
print("ready", flush=True)
while True:
    question, _ = sock.recvfrom(4096)
    # A query for our name, of type A and class IN.
    if question[2] & 0x80 or wire + struct.pack(">HH", 1, 1) not in question:
        continue
    answer = struct.pack(">6H", 0, 0x8400, 0, 1, 0, 0) + wire + struct.pack(">HHIH", 1, 0x8001, 120, 4)
    sock.sendto(answer + socket.inet_aton(address), (group, 5353))
