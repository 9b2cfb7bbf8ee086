"""A gateway's connection to a device on the local network (docs/lan.md, "The protocol")."""

import asyncio
import base64
import datetime
import hashlib
import json
import os
import secrets
import ssl
import struct

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

from link import Reply
from web import PATIENCE


class Key:
    """A gateway's key, with a certificate for it."""

    def __init__(self, folder):
        key = Ed25519PrivateKey.generate()
        document = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        digest = base64.b64encode(hashlib.sha256(document).digest()).decode().rstrip("=")
        self.fingerprint = "SHA256:" + digest
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "attacker")])
        start = datetime.datetime(2020, 1, 1)
        certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
                       .serial_number(1).not_valid_before(start).not_valid_after(datetime.datetime(2100, 1, 1))
                       .sign(key, None))
        self.path = os.path.join(folder, f"gateway-{secrets.token_hex(4)}.pem")
        with open(self.path, "wb") as file:
            file.write(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                         serialization.NoEncryption()))
            file.write(certificate.public_bytes(serialization.Encoding.PEM))


class LAN:
    """`key` is `None` for a caller without a certificate."""

    def __init__(self, site, device, key=None, source=None):
        self.site, self.device, self.key, self.source = site, device, key, source
        self.writer = None

    async def open(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if self.key:
            context.load_cert_chain(self.key.path)
        self.reader, self.writer = await asyncio.wait_for(asyncio.open_connection(
            "127.0.0.1", self.site.lan, ssl=context, server_hostname=f"{self.device}.iotvideod",
            local_addr=(self.source, 0) if self.source else None), PATIENCE)
        return self

    async def send(self, payload):
        self.writer.write(struct.pack(">I", len(payload)) + payload)
        await self.writer.drain()

    @staticmethod
    def request(method, params, **members):
        return json.dumps({"id": secrets.token_hex(16), "method": method, "params": params, "t": 0,
                           "deadline": 10_000, **members}).encode()

    async def receive(self):
        """The next answer; `None` at the end of the connection."""
        try:
            size = struct.unpack(">I", await asyncio.wait_for(self.reader.readexactly(4), PATIENCE))[0]
            return Reply(json.loads(await asyncio.wait_for(self.reader.readexactly(size), PATIENCE)))
        except (OSError, asyncio.IncompleteReadError):
            return None

    async def ask(self, method, params):
        await self.send(self.request(method, params))
        return await self.receive()

    async def ends(self):
        """Whether the device ends the connection in time; what it still sends is skipped."""
        try:
            while await self.receive():
                pass
            return True
        except asyncio.TimeoutError:
            return False

    def close(self):
        if self.writer:
            self.writer.close()
