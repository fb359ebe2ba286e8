"""A person's device in software: makes passkeys and signs with them as a security key does (WebAuthn, ES256)."""

from __future__ import annotations

import hashlib
import json
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from bot.domain.passkeys import base64url, unbase64url

_PRESENT, _VERIFIED, _HAS_KEY = 0x01, 0x04, 0x40

Json = Mapping[str, Any]


@dataclass
class Authenticator:
    """One device. `verifies`: does it ask for the finger or the PIN? `counts`: does its counter move on?

    `origin` is of the page that asks, as the browser writes it. With a `seed` its keys and signatures are the same each
    time. The private keys never leave this object; `signed` are its signatures.
    """

    origin: str
    seed: str = ""
    verifies: bool = True
    counts: bool = True
    keys: dict[str, ec.EllipticCurvePrivateKey] = field(default_factory=dict)
    count: int = 0
    signed: set[str] = field(default_factory=set)

    def answer(self, options: Json) -> dict[str, Any]:
        """What the page would send for these options: a new key, a signature, or both."""
        if "create" not in options:
            return self.sign(options["get"])
        proof = {"proof": self.sign(options["get"])} if "get" in options else {}
        return {**self.create(options["create"]), **proof}

    def create(self, options: Json) -> dict[str, Any]:
        """As `navigator.credentials.create`."""
        seed = (self.seed or secrets.token_hex(16)) + f" {len(self.keys)}"
        number = int.from_bytes(hashlib.sha256(f"key {seed}".encode()).digest(), "big")
        key = ec.derive_private_key(number % (1 << 255), ec.SECP256R1())
        raw_id = hashlib.sha256(f"id {seed}".encode()).digest()
        credential_id = base64url(raw_id)
        self.keys[credential_id] = key
        attested = bytes(16) + struct.pack(">H", len(raw_id)) + raw_id + self.cose_of(credential_id)
        data = self._data(options["rp"]["id"], _HAS_KEY) + attested
        response = {
            "attestationObject": base64url(cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})),
            "clientDataJSON": base64url(self._client_data("webauthn.create", options)),
        }
        return {"id": credential_id, "rawId": credential_id, "type": "public-key", "response": response}

    def sign(self, options: Json, *, with_key: str = "") -> dict[str, Any]:
        """As `navigator.credentials.get`, with the first key that is allowed, or with the one named."""
        allowed = [one["id"] for one in options["allowCredentials"]]
        credential_id = with_key or next((one for one in allowed if one in self.keys), "")
        if not credential_id:
            raise LookupError("this device has none of these passkeys")
        data = self._data(options["rpId"])
        client_data = self._client_data("webauthn.get", options)
        manner = ec.ECDSA(SHA256(), deterministic_signing=bool(self.seed))
        signed = self.keys[credential_id].sign(data + hashlib.sha256(client_data).digest(), manner)
        self.signed.add(base64url(signed))
        response = {
            "authenticatorData": base64url(data),
            "clientDataJSON": base64url(client_data),
            "signature": base64url(signed),
        }
        return {"id": credential_id, "rawId": credential_id, "type": "public-key", "response": response}

    def cose_of(self, credential_id: str) -> bytes:
        """The public half of a key."""
        point = self.keys[credential_id].public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (point.x, point.y))
        return self.cose({1: 2, 3: -7, -1: 1, -2: x, -3: y})

    def cose(self, fields: Mapping[int, Any]) -> bytes:
        """A public key as it is sent."""
        return cbor2.dumps(dict(fields))

    def _data(self, rp_id: str, more: int = 0) -> bytes:
        if self.counts:
            self.count += 1
        flags = _PRESENT | (_VERIFIED if self.verifies else 0) | more
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + struct.pack(">I", self.count)

    def _client_data(self, what: str, options: Json) -> bytes:
        challenge = base64url(unbase64url(options["challenge"]))
        said = {"type": what, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(said).encode()
