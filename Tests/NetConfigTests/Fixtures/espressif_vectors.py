#!/usr/bin/python3
"""Prints espressif_vectors.json: what this independent implementation computes from fixed inputs."""
import hashlib
import json

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

import espressif as e


def fixed(label, count):
    return hashlib.shake_256(label.encode()).digest(count)


def srp(label, user, password):
    salt = b"\x01" + fixed(label + " salt", 15)
    while True:
        a, b = fixed(label + " a", 32), fixed(label + " b", 32)
        verifier = e.srp_verifier(salt, user, password)
        b_public = e.srp_device_public(verifier, e.integer(b))
        a_public, key, first, second = e.srp_client(user, password, e.integer(a), salt, b_public)
        if a_public[0] and b_public[0]:
            break
        label += "'"
    assert (b_public, key, first, second) == e.srp_device(user, verifier, salt, e.integer(b), a_public)
    return {"user": user, "password": password, "salt": salt.hex(), "verifier": e.pad(verifier).hex(), "a": a.hex(),
            "b": b.hex(), "A": a_public.hex(), "B": b_public.hex(), "u": e.pad(e.srp_u(a_public, b_public)).hex()[-128:],
            "K": key.hex(), "clientProof": first.hex(), "deviceProof": second.hex()}


def security1(label, proof):
    client, device = (X25519PrivateKey.from_private_bytes(fixed(label + side, 32)) for side in (" client", " device"))
    start = fixed(label + " start", 16)
    key = e.x25519_key(client, e.x25519_public(device), proof)
    stream = e.Stream(key, start)
    texts = [fixed(label + str(count), count) for count in (32, 32, 5, 1, 40, 16)]
    return {"proof": proof, "client": fixed(label + " client", 32).hex(), "device": fixed(label + " device", 32).hex(),
            "start": start.hex(), "key": key.hex(), "plain": [text.hex() for text in texts],
            "sealed": [stream.seal(text).hex() for text in texts]}


def security2(label):
    key, nonce = fixed(label + " key", 64), fixed(label + " nonce", 8) + b"\0\0\0\x01"
    counting = e.Counting(key, nonce)
    texts = [fixed(label + str(count), count) for count in (0, 1, 40, 300)]
    return {"key": key.hex(), "nonce": nonce.hex(), "plain": [text.hex() for text in texts],
            "sealed": [counting.seal(text).hex() for text in texts]}


print(json.dumps({
    "prime": e.pad(e.N).hex(), "multiplier": e.pad(e.K_MULTIPLIER).hex()[-128:],
    "srp": [srp("one", "wifiprov", "abcd1234"), srp("two", "Kamera", "pässwörd 密码"), srp("three", "u", "x" * 200)],
    "security1": [security1("one", "abcd1234"), security1("two", ""), security1("three", "ü密")],
    "security2": [security2("one")],
}, indent=1))
