"""Ids, message timestamps and tokens.

Ids come from the randomness passed in, so that a restarted stand-in never hands out an id that
the app has already seen. Tokens depend on the seed only, so that a demo keeps them over restarts.
"""

from __future__ import annotations

import hashlib
import random
import string

from sandbox.slack.clock import Clock
from sandbox.slack.json_object import Json

_ALPHABET = string.ascii_uppercase + string.digits


class Ids:
    """Fresh ids in Slack's forms, and message timestamps that never repeat nor go back."""

    def __init__(self, clock: Clock, rng: random.Random) -> None:
        self._clock = clock
        self._rng = rng
        self._last_micros = 0

    def fresh(self, prefix: str, length: int = 10) -> str:
        """An id such as `C0123456789`: the prefix that tells its kind, and `length` letters and digits."""
        return prefix + "".join(self._rng.choices(_ALPHABET, k=length))

    def block_id(self) -> str:
        """Slack names blocks that have no `block_id` with five characters."""
        return "".join(self._rng.choices(string.ascii_letters + string.digits, k=5))

    def hex(self, length: int) -> str:
        """So many random hexadecimal digits."""
        return f"{self._rng.getrandbits(4 * length):0{length}x}"

    def envelope_id(self) -> str:
        """An id in the form of a UUID."""
        raw = self.hex(32)
        return f"{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"

    def trigger_id(self) -> str:
        """A trigger id in Slack's form: two numbers and 32 hexadecimal digits."""
        return f"{self._rng.randrange(10**12, 10**13)}.{self._rng.randrange(10**11, 10**12)}.{self.hex(32)}"

    def ts(self) -> str:
        """A message timestamp: seconds with six decimals, unique and rising."""
        micros = max(int(self._clock.now() * 1_000_000), self._last_micros + 1)
        self._last_micros = micros
        return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"

    def ts_at(self, second: int, held: list[Json]) -> str:
        """A timestamp in this second that no message of a channel has."""
        taken = {message["ts"] for message in held}
        return next(ts for micros in range(1_000_000) if (ts := f"{second}.{micros:06d}") not in taken)

    def forget_times(self) -> None:
        """Begin again: nothing is left of what was dated before."""
        self._last_micros = 0

    def not_before(self, ts: str) -> None:
        """Remember a timestamp read from storage, so that new ones come after it."""
        seconds, _, fraction = ts.partition(".")
        self._last_micros = max(self._last_micros, int(seconds) * 1_000_000 + int(fraction))


def token(prefix: str, seed: int) -> str:
    """A token that is the same for the same seed; `prefix` tells its kind."""
    return f"{prefix}-sandbox-{hashlib.sha256(f'{prefix}:{seed}'.encode()).hexdigest()[:24]}"


def signing_secret(seed: int) -> str:
    """The secret that signs HTTP requests: 32 hexadecimal digits, the same for the same seed."""
    return hashlib.sha256(f"signing:{seed}".encode()).hexdigest()[:32]
