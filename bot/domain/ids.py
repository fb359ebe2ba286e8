"""Ids: request ids people can say, one idempotency key per request, and the short code of the terms."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from bot.domain.errors import NotFound

# No 0/O, 1/I/L, 5/S, 8/B: ids are read aloud.
_SPEAKABLE = "234679ACDEFGHJKMNPQRTUVWXYZ"
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
# Its first ten digits are the time; up to the year 8660, as no later one is a time for Python.
_ULID, _ULID_TIME = re.compile(rf"[0-5][{_CROCKFORD}]{{25}}"), 10


_REQUEST_ID = re.compile(r"R-[0-9A-Z]{1,20}")


def read_request_id(text: str) -> str:
    """The one spelling of a request's id, of what a person typed. Raises NotFound for what has not its form: the
    database may not even take it."""
    wanted = text.strip().upper()
    if not _REQUEST_ID.fullmatch(wanted):
        raise NotFound(no_request(text))
    return wanted


def no_request(text: str) -> str:
    """The sentence for who asked for it."""
    seen = "".join(c for c in text if c.isprintable())[:20]
    return f"There is no request {seen}. Look at /requests for the ids."


class Random(Protocol):
    """What ids are drawn from; `secrets.SystemRandom()` in production, seeded in tests."""

    def getrandbits(self, k: int, /) -> int: ...
    def choice(self, seq: str, /) -> str: ...


def system_random() -> Random:
    return secrets.SystemRandom()


class Ids:
    """Makes ids from a random source and the instance's name."""

    def __init__(self, instance: str, random: Random, now: Callable[[], datetime]) -> None:
        self._instance = instance
        self._random = random
        self._now = now

    def request_id(self, length: int = 4) -> str:
        """`R-7K3M`: 27^4 = 531,441 ids at four letters; the caller asks for more on a collision."""
        return "R-" + "".join(self._random.choice(_SPEAKABLE) for _ in range(length))

    def ulid(self) -> str:
        """26 characters, sortable by time to the millisecond (48 bits of time, 80 of randomness)."""
        value = (int(self._now().timestamp() * 1000) << 80) | self._random.getrandbits(80)
        return "".join(_CROCKFORD[(value >> shift) & 31] for shift in range(125, -1, -5))

    def idempotency_key(self) -> str:
        """`co-<instance>-<ulid>`: foreign and orphan debits can be recognised by it in the ledger."""
        return f"{self._own}{self.ulid()}"

    def made(self, key: str) -> bool:
        """Was this idempotency key made by this instance, whether or not its database knows it?"""
        return key.startswith(self._own)

    def made_at(self, key: str) -> datetime | None:
        """When this instance made it, by the clock of then; None where it did not, or where it has another form."""
        digits = key.removeprefix(self._own)
        if not self.made(key) or not _ULID.fullmatch(digits):
            return None
        milliseconds = 0
        for digit in digits[:_ULID_TIME]:
            milliseconds = milliseconds * 32 + _CROCKFORD.index(digit)
        return datetime.fromtimestamp(milliseconds / 1000, UTC)

    @property
    def _own(self) -> str:
        return f"co-{self._instance}-"

    def token(self) -> str:
        """256 random bits in 43 characters that need no escaping in an address."""
        return (
            base64.urlsafe_b64encode(self._random.getrandbits(256).to_bytes(32, "big")).decode().rstrip("=")
        )


def short_code(digest: str) -> str:
    """`K7F-2QX` from a hex digest: the same on the request card, the confirmation and the receipt."""
    text = base64.b32encode(hashlib.sha256(bytes.fromhex(digest)).digest()).decode()[:6]
    return f"{text[:3]}-{text[3:]}"


_HASH = re.compile(r"\b0x[0-9a-fA-F]{40,}\b")


def short_hash(tx_hash: str) -> str:
    """`0x68105d…9005`, which look-ups take, too."""
    return f"{tx_hash[:8]}…{tx_hash[-4:]}"


def short_hashes(text: str) -> str:
    """A sentence with every transaction hash in it short."""
    return _HASH.sub(lambda found: short_hash(found[0]), text)
