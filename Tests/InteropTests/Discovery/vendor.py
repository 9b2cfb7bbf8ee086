"""The WS-Discovery side of an ONVIF camera: sends the messages in a file of Tests/NetConfigTests/Discovery/Fixtures.

Usage: vendor.py FIXTURE [--delay MILLISECONDS] [--types-only] [--appears] INTERFACE…

It answers each Probe once, after the delay. With --types-only it does not answer a Probe without a type. With --appears
it sends Hello when it starts, answers Probes only after a line "answer" on standard input, and sends Bye at the end of
standard input.
"""

import argparse
import asyncio
import pathlib
import re
import socket
import struct
import sys
import xml.etree.ElementTree as ElementTree

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "NetConfigTests" / "Discovery" / "Fixtures"
# The RelatesTo of the fixtures. It is replaced by the id of the Probe. Fixtures with another RelatesTo keep it.
RELATED = "00000000-0000-4000-8000-0000000000ff"
GROUPS = {socket.AF_INET: "239.255.255.250", socket.AF_INET6: "ff02::c"}
PORT = 3702


class Vendor:
    def __init__(self, options):
        self.options = options
        text = (FIXTURES / f"{options.fixture}.xml").read_text()
        self.hello = text if "/Hello<" in text else None
        self.text = text.replace("/Hello<", "/ProbeMatches<").replace("<d:Hello>", "<d:ProbeMatches><d:ProbeMatch>")
        self.text = self.text.replace("</d:Hello>", "</d:ProbeMatch></d:ProbeMatches>")
        self.is_answering = not options.appears
        self.answered = set()
        self.sockets = []

    def open(self, name, family):
        listener = socket.socket(family, socket.SOCK_DGRAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        index = socket.if_nametoindex(name)
        group = socket.inet_pton(family, GROUPS[family])
        if family == socket.AF_INET:
            listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + struct.pack("=4si", bytes(4), index))
            listener.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("=4s4si", bytes(4), bytes(4), index))
            listener.setsockopt(socket.IPPROTO_IP, 49, 0)  # IP_MULTICAST_ALL
            listener.bind((GROUPS[family], PORT))
        else:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group + struct.pack("=I", index))
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
            listener.bind((GROUPS[family], PORT, 0, index))
        listener.setblocking(False)
        self.sockets.append(listener)
        asyncio.get_running_loop().add_reader(listener, self.read, listener)

    def read(self, listener):
        data, sender = listener.recvfrom(65_536)
        try:
            root = ElementTree.fromstring(data)
        except ElementTree.ParseError:
            return
        probe = root.find(".//{*}Probe")
        message = root.findtext(".//{*}MessageID", "").strip()
        if probe is None or not self.is_answering or message in self.answered:
            return
        if self.options.types_only and "NetworkVideoTransmitter" not in (probe.findtext("{*}Types") or ""):
            return
        self.answered.add(message)
        answer = self.text.replace(RELATED, message.rsplit(":", 1)[-1]).encode()
        # Sent from the camera's own address, not from the group's.
        asyncio.get_running_loop().call_later(self.options.delay / 1000, self.send, listener.family, answer, sender)

    def send(self, family, data, destination):
        with socket.socket(family, socket.SOCK_DGRAM) as sender:
            sender.sendto(data, destination)

    def announce(self, text):
        for listener in self.sockets:
            destination = (GROUPS[listener.family], PORT)
            listener.sendto(text.encode(), destination)

    @property
    def bye(self):
        endpoint = re.search("<a:EndpointReference>.*</a:EndpointReference>", self.hello)[0]
        bye = re.sub("<d:Hello>.*</d:Hello>", f"<d:Bye>{endpoint}</d:Bye>", self.hello)
        return bye.replace("/Hello<", "/Bye<")

    def command(self, ended):
        line = sys.stdin.readline()
        if line:
            self.is_answering = True
            print("answers", flush=True)
        else:
            self.is_answering = False
            if self.options.appears:
                self.announce(self.bye)
            ended.set()

    async def run(self):
        for name in self.options.interfaces:
            self.open(name, socket.AF_INET)
            self.open(name, socket.AF_INET6)
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(sys.stdin, self.command, ended)
        if self.options.appears:
            self.announce(self.hello)
        print("ready", flush=True)
        await ended.wait()


arguments = argparse.ArgumentParser()
arguments.add_argument("fixture")
arguments.add_argument("--delay", type=float, default=0)
arguments.add_argument("--types-only", action="store_true")
arguments.add_argument("--appears", action="store_true")
arguments.add_argument("interfaces", nargs="+")
asyncio.run(Vendor(arguments.parse_args()).run())
