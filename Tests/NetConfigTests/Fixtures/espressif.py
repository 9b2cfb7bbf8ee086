"""Espressif's unified provisioning, written from the protocol's public description and RFC 5054, 2945 and 7748, and not
from this repository's Swift: the other side in its tests. Numbers of fields are those of the wire."""
import hashlib
import hmac
import os
import struct

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

# RFC 5054, appendix A: the 3072-bit group is the MODP group of RFC 3526 §4, here by its formula
# 2^3072 - 2^3008 - 1 + 2^64 * ([2^2942 pi] + 1690314).


def pi_bits(bits):
    """floor(2^bits * pi), by Machin's formula with spare digits."""
    spare = 64
    one = 1 << (bits + spare)

    def arctan_inverse(x):
        total = term = one // x
        n, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // n)
            sign, n = -sign, n + 2
        return total

    return 4 * (4 * arctan_inverse(5) - arctan_inverse(239)) >> spare


N = 2 ** 3072 - 2 ** 3008 - 1 + 2 ** 64 * (pi_bits(2942) + 1690314)
G = 5
SIZE = 384


# Protocol buffers, as far as they are needed: varints and byte strings.

def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while True:
        out.append((value & 0x7F) | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def message(*fields):
    """(number, int | bytes | str) …; zero and empty ones are left out, as proto3 has it, but not empty messages: None."""
    out = b""
    for number, value in fields:
        if isinstance(value, str):
            value = value.encode()
        if value is None:
            out += varint(number << 3 | 2) + b"\0"
        elif isinstance(value, int):
            if value:
                out += varint(number << 3) + varint(value)
        elif value:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def fields(data):
    """number → list of values."""
    found, place = {}, 0

    def read():
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(data):
        key = read()
        if key & 7 == 0:
            value = read()
        elif key & 7 == 2:
            length = read()
            value = data[place:place + length]
            if len(value) != length:
                raise ValueError("a field is cut")
            place += length
        else:
            raise ValueError("a wire type that this protocol does not use")
        found.setdefault(key >> 3, []).append(value)
    return found


def one(found, number, default=0):
    return found.get(number, [default])[-1]


def signed(value):
    return value - (1 << 64) if value >> 63 else value


# SRP-6a with SHA-512, RFC 5054 §2.

def sha512(*parts):
    return hashlib.sha512(b"".join(parts)).digest()


def pad(number):
    return number.to_bytes(SIZE, "big")


def short(number):
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def integer(data):
    return int.from_bytes(data, "big")


K_MULTIPLIER = integer(sha512(pad(N), pad(G)))


def srp_x(salt, user, password):
    return integer(sha512(salt, sha512(user.encode() + b":" + password.encode())))


def srp_verifier(salt, user, password):
    return pow(G, srp_x(salt, user, password), N)


def srp_proofs(user, salt, a_bytes, b_bytes, key):
    mixed = bytes(x ^ y for x, y in zip(sha512(pad(N)), sha512(pad(G))))
    first = sha512(mixed, sha512(user.encode()), salt, a_bytes, b_bytes, key)
    return first, sha512(a_bytes, first, key)


def srp_u(a_bytes, b_bytes):
    return integer(sha512(a_bytes.rjust(SIZE, b"\0"), b_bytes.rjust(SIZE, b"\0")))


def srp_client(user, password, secret, salt, b_bytes):
    """→ A, K, the client's proof, the device's."""
    a_public = pad(pow(G, secret, N))
    x = srp_x(salt, user, password)
    shared = pow((integer(b_bytes) - K_MULTIPLIER * pow(G, x, N)) % N, secret + srp_u(a_public, b_bytes) * x, N)
    key = sha512(short(shared))
    return (a_public, key) + srp_proofs(user, salt, a_public, short(integer(b_bytes)), key)


def srp_device_public(verifier, secret):
    return pad((K_MULTIPLIER * verifier + pow(G, secret, N)) % N)


def srp_device(user, verifier, salt, secret, a_bytes):
    b_public = srp_device_public(verifier, secret)
    shared = pow(integer(a_bytes) * pow(verifier, srp_u(a_bytes, b_public), N), secret, N)
    key = sha512(short(shared))
    return (b_public, key) + srp_proofs(user, salt, a_bytes, b_public, key)


# Security 1.

def x25519_public(private):
    return private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def x25519_key(private, other, proof):
    shared = private.exchange(X25519PublicKey.from_public_bytes(other))
    if not proof:
        return shared
    return bytes(x ^ y for x, y in zip(shared, hashlib.sha256(proof.encode()).digest()))


class Stream:
    """AES-256-CTR whose counter runs on, both ways."""

    def __init__(self, key, start):
        self.cipher = Cipher(algorithms.AES(key), modes.CTR(start)).encryptor()

    def seal(self, data):
        return self.cipher.update(data)

    open = seal


class Counting:
    """AES-256-GCM whose nonce counts every message."""

    def __init__(self, key, nonce):
        self.cipher, self.session, self.counter = AESGCM(key[:32]), nonce[:8], struct.unpack(">I", nonce[8:])[0]

    def nonce(self):
        nonce = self.session + struct.pack(">I", self.counter)
        self.counter += 1
        return nonce

    def seal(self, data):
        return self.cipher.encrypt(self.nonce(), data, None)

    def open(self, data):
        return self.cipher.decrypt(self.nonce(), data, None)


class Client:
    """The client's handshake: two requests."""

    def __init__(self, security, pop="", user="", password=""):
        self.security, self.pop, self.user, self.password = security, pop, user, password

    def first(self):
        if self.security == 1:
            self.private = X25519PrivateKey.generate()
            step = message((20, message((1, x25519_public(self.private)))))
        else:
            while True:
                self.secret = integer(os.urandom(32))
                a_public = pad(pow(G, self.secret, N))
                if a_public[0]:
                    break
            step = message((20, message((1, self.user), (2, a_public))))
        return message((2, self.security), (10 + self.security, step))

    def second(self, reply):
        step = fields(one(fields(reply), 10 + self.security, b""))
        inner = fields(one(step, 21, b""))
        if self.security == 1:
            device_public, start = one(inner, 2, b""), one(inner, 3, b"")
            self.cipher = Stream(x25519_key(self.private, device_public, self.pop), start)
            proof = message((2, self.cipher.seal(device_public)))
        else:
            b_public, salt = one(inner, 2, b""), one(inner, 3, b"")
            _, self.key, first, self.expected = srp_client(self.user, self.password, self.secret, salt, b_public)
            proof = message((1, first))
        return message((2, self.security), (10 + self.security, message((1, 2), (22, proof))))

    def finish(self, reply):
        inner = fields(one(fields(one(fields(reply), 10 + self.security, b"")), 23, b""))
        if self.security == 1:
            if self.cipher.open(one(inner, 3, b"")) != x25519_public(self.private):
                raise ValueError("the device's proof is wrong")
            return self.cipher
        if not hmac.compare_digest(one(inner, 2, b""), self.expected):
            raise ValueError("the device's proof is wrong")
        return Counting(self.key, one(inner, 3, b""))


class WrongProof(Exception):
    pass


class Device:
    """The device's handshake."""

    def __init__(self, security, pop="", user="", password=""):
        self.security, self.pop, self.user = security, pop, user
        self.salt = b"\x01" + os.urandom(15)
        self.verifier = srp_verifier(self.salt, user, password) if security == 2 else 0

    def answer(self, body):
        """→ reply, cipher or None."""
        data = fields(body)
        if one(data, 2) != self.security:
            raise ValueError("another security version")
        step = fields(one(data, 10 + self.security, b""))
        kind = one(step, 1)
        inner = fields(one(step, 20 if kind == 0 else 22, b""))
        if kind == 0 and self.security == 1:
            private = X25519PrivateKey.generate()
            self.public, self.client, start = x25519_public(private), one(inner, 1, b""), os.urandom(16)
            self.cipher = Stream(x25519_key(private, self.client, self.pop), start)
            return self.reply(1, message((2, self.public), (3, start))), None
        if kind == 0:
            self.name, self.client, self.secret = one(inner, 1, b"").decode(), one(inner, 2, b""), integer(os.urandom(32))
            # Numbers go without zeros in front, as the real device sends them.
            public = short(integer(srp_device_public(self.verifier, self.secret)))
            return self.reply(1, message((2, public), (3, self.salt))), None
        if self.security == 1:
            if self.cipher.open(one(inner, 2, b"")) != self.public:
                raise WrongProof()
            return self.reply(3, message((3, self.cipher.seal(self.client)))), self.cipher
        b_public, key, _, _ = srp_device(self.name, self.verifier, self.salt, self.secret, self.client)
        expected, proof = srp_proofs(self.name, self.salt, self.client, short(integer(b_public)), key)
        if self.name != self.user or not hmac.compare_digest(expected, one(inner, 1, b"")):
            raise WrongProof()
        nonce = os.urandom(8) + b"\0\0\0\x01"
        return self.reply(3, message((2, proof), (3, nonce))), Counting(key, nonce)

    def reply(self, kind, inner):
        return message((2, self.security), (10 + self.security, message((1, kind), (20 + kind, inner))))
