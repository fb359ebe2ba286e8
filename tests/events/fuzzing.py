"""Deliveries spoiled in every way we can think of, from one seed; and an oracle that knows which are genuine."""

import hmac
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.partner.webhooks import DeliveryRefused, unwrap
from tests.events.receiving import SECRET, Bot, authorized, signature

TOKENS = (
    b"NaN", b"-Infinity", b"1e999", b"1E400", b"-0", b"0.1234567891", b"9" * 5000, b"0." + b"7" * 5000,
    b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\u0000"', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc0\xaf",
    b"[" * 40, b'{"a":' * 33, b"]", b"}", b"{}", b"null", b"true", b'"id":"e2",', b'"\\u0069d":1,',
    b'"type":"card.3ds_challenge",', b'"code":"834771",', b'"data":[],', b",", b":", b'"', b"\\", b"\r\n\r\n",
    b"__proto__", b"'; DROP TABLE inbox; --", "\u202e\u0663".encode(), b"0001-01-01T00:00:00+14:00",
    b"9999-12-31T23:59:59-14:00", b"2026-02-30T00:00:00Z",
)  # fmt: skip
TYPES = (
    "card.authorized", "card.transaction", "card.declined", "card.unloaded", "card.status_changed",
    "card.3ds_challenge", "float.credited", "card.unheard_of",
)  # fmt: skip

Mutation = Callable[[random.Random, bytes], bytes]


def _flip(rng: random.Random, raw: bytes) -> bytes:
    at = rng.randrange(len(raw))
    return raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]


def _cut(rng: random.Random, raw: bytes) -> bytes:
    start = rng.randrange(len(raw))
    return raw[:start] + raw[start + rng.randint(1, 40) :]


def _double(rng: random.Random, raw: bytes) -> bytes:
    start = rng.randrange(len(raw))
    part = raw[start : start + rng.randint(1, 60)]
    return raw[:start] + part * rng.choice((2, 3, 400)) + raw[start:]


def _insert(rng: random.Random, raw: bytes) -> bytes:
    at = rng.randrange(len(raw) + 1)
    return raw[:at] + rng.choice(TOKENS) + raw[at:]


def _value(rng: random.Random, raw: bytes) -> bytes:
    """Put a token in place of one value, so that the rest stays JSON."""
    values = list(re.finditer(rb'(?<=: )("[^"]*"|[-0-9.]+|true|null)', raw))
    if not values:
        return raw
    found = rng.choice(values)
    return raw[: found.start()] + rng.choice(TOKENS) + raw[found.end() :]


def _noise(rng: random.Random, raw: bytes) -> bytes:
    return rng.randbytes(rng.randrange(200))


def _huge(rng: random.Random, raw: bytes) -> bytes:
    return raw + b" " * rng.choice((64 * 1024, 64 * 1024 - len(raw), 64 * 1024 - len(raw) + 1))


MUTATIONS: Sequence[Mutation] = (_flip, _cut, _double, _insert, _value, _value, _noise)


def spoiled(rng: random.Random, raw: bytes) -> bytes:
    """The bytes after one to three mutations."""
    for _ in range(rng.randint(1, 3)):
        raw = rng.choice(MUTATIONS)(rng, raw) or b"{"
    return _huge(rng, raw) if rng.random() < 0.002 else raw


@dataclass
class Fuzz:
    """Throws deliveries at a receiver and keeps what came of them. `wrong` names every broken promise."""

    bot: Bot
    seed: int
    answers: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._bodies = [
            json.dumps(self.bot.event(kind, authorized(), event_id=f"{kind}-{n}")).encode()
            for n, kind in enumerate(TYPES)
        ]

    def case(self) -> tuple[bytes, dict[str, str]]:
        """A body and headers: half of them signed after they were spoiled, half of them tampered with."""
        rng = self._rng
        raw = rng.choice(self._bodies)
        if rng.random() < 0.5:
            raw = spoiled(rng, raw)
            return raw, self.bot.signed(raw, seconds=rng.choice((0, 0, 0, 299, -299, 301, -301)))
        headers = self.bot.signed(raw)
        if rng.random() < 0.5:
            return spoiled(rng, raw), headers
        name = rng.choice(("X-SVC-Timestamp", "X-SVC-Signature"))
        value = spoiled(rng, headers[name].encode()).decode("latin-1")
        headers[name] = re.sub(r"[\r\n\x00]", "", value)  # no HTTP parser lets these through
        if rng.random() < 0.1:
            del headers[name]
        return raw, headers

    async def throw(self, times: int) -> None:
        """In process, through everything but the web server."""
        for _ in range(times):
            raw, headers = self.case()
            status = await self._status(raw, headers)
            self.judge(raw, headers, status)

    async def _status(self, raw: bytes, headers: Mapping[str, str]) -> int:
        try:
            await self.bot.webhooks.receive("main", raw, headers)
        except DeliveryRefused as refusal:
            return refusal.status
        except Exception as error:  # noqa: BLE001 - the web server would make a 500 of it
            self.wrong.append(f"{type(error).__name__} for {raw[:200]!r} {headers}")
            return 500
        return 200

    def judge(self, raw: bytes, headers: Mapping[str, str], status: int) -> None:
        """Was the answer one that is allowed for this delivery?"""
        self.answers[status] += 1
        if status not in (200, 400, 401, 413):
            self.wrong.append(f"answered {status}: {raw[:200]!r} {headers}")
        if status == 200:
            if not self._is_genuine(raw, headers):
                self.wrong.append(f"a forgery was taken: {raw[:200]!r} {headers}")
            unwrap(raw)
        elif status == 400 and not self._is_genuine(raw, headers):
            self.wrong.append(f"looked into before it was proved genuine: {raw[:200]!r}")

    def _is_genuine(self, raw: bytes, headers: Mapping[str, str]) -> bool:
        stamp = headers.get("X-SVC-Timestamp", "")
        if not re.fullmatch("[0-9]+", stamp) or len(raw) > 64 * 1024:
            return False
        signed = hmac.compare_digest(
            signature(SECRET, stamp, raw).encode(), headers.get("X-SVC-Signature", "").encode()
        )
        return signed and abs(self.bot.world.clock.now().timestamp() - int(stamp)) <= 300
