"""How chains write addresses and hashes: Base58 on Solana, Base58 with a checksum on Tron."""

from __future__ import annotations

import hashlib

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_TRON_MAINNET = b"\x41"  # which makes every address begin with T


def base58(content: bytes) -> str:
    """Bytes in Base58, which leaves out the letters that look alike; each leading zero byte is a 1."""
    number, letters = int.from_bytes(content, "big"), ""
    while number:
        number, rest = divmod(number, 58)
        letters = _BASE58[rest] + letters
    return "1" * (len(content) - len(content.lstrip(b"\0"))) + letters


def tron_address(account: bytes) -> str:
    """The address of a 20-byte account: 34 characters, the last of them a checksum."""
    payload = _TRON_MAINNET + account
    return base58(payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4])
