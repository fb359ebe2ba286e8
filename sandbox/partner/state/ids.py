"""Identifiers drawn from the seed: the same seed and the same calls give the same ids.

Every fifth card's id differs from the card before it in case only, because ids are case-sensitive
(Card, R056) and a client that folds case should find out here.
"""

from __future__ import annotations

import hashlib
import random
import string
import uuid

from sandbox.partner.state import chain_texts
from sandbox.partner.state.store import Store

_ALPHABET = string.ascii_letters + string.digits
KEY_PREFIX = "svc_live_00000000"


class Ids:
    """The ids of one simulator; counters in the store make each draw the next of its kind."""

    def __init__(self, store: Store, seed: str) -> None:
        self._store = store
        self._seed = seed

    def _source(self, kind: str) -> tuple[int, random.Random]:
        count = self._store.count(kind)
        digest = hashlib.sha256(f"{self._seed}:{kind}:{count}".encode()).digest()
        return count, random.Random(digest)  # noqa: S311 - ids must repeat for a seed

    def uuid(self, kind: str) -> str:
        """The next UUID of a kind; kinds are counted apart."""
        _, source = self._source(kind)
        return str(uuid.UUID(int=source.getrandbits(128), version=4))

    def card(self) -> str:
        """32 letters and digits (Card.id)."""
        count, source = self._source("card")
        if count % 5 == 0:
            last = self._store.one("SELECT id FROM cards ORDER BY seq DESC LIMIT 1")
            if last and not self._store.one("SELECT 1 FROM cards WHERE id = ?", last["id"].swapcase()):
                return str(last["id"]).swapcase()
        return "".join(source.choices(_ALPHABET, k=32))

    def last4(self) -> str:
        """The next card's last four digits."""
        _, source = self._source("last4")
        return f"{source.randrange(10_000):04d}"

    def key(self) -> str:
        """An API key; the counter survives a reset, as the keys do."""
        _, source = self._source("api_key")
        return KEY_PREFIX + f"{source.getrandbits(128):032x}"

    def webhook_secret(self) -> str:
        """whsec_ and 32 base64url characters."""
        _, source = self._source("webhook_secret")
        return "whsec_" + "".join(source.choices(_ALPHABET + "-_", k=32))

    def token(self) -> str:
        """What makes a details address unguessable to those who do not know the seed."""
        _, source = self._source("token")
        return f"{source.getrandbits(192):048x}"

    def code(self) -> str:
        """A one-time code of six digits."""
        _, source = self._source("code")
        return f"{source.randrange(1_000_000):06d}"

    def transaction_hash(self, chain: str) -> str:
        """The next transaction hash as the chain writes it; 0x and 64 hex digits where Ethereum's form is used."""
        _, source = self._source("transaction_hash")
        if chain == "SOLANA":
            return chain_texts.base58(source.randbytes(64))
        digits = f"{source.getrandbits(256):064x}"
        return digits if chain == "TRON" else "0x" + digits

    def pan(self, card_id: str, last4: str) -> tuple[str, str]:
        """A card's number and CVV: always the same, stored nowhere, and the number fails Luhn (U69)."""
        source = random.Random(hashlib.sha256(f"{self._seed}:pan:{card_id}".encode()).digest())  # noqa: S311 - must repeat
        start = "400000" + "".join(source.choices(string.digits, k=5))
        check = next(digit for digit in string.digits if not _passes_luhn(start + digit + last4))
        return start + check + last4, f"{source.randrange(1000):03d}"

    def address(self, network: str) -> str:
        """The funding address of a network: fixed by the seed, in mixed case."""
        digits = hashlib.sha256(f"{self._seed}:address:{network}".encode()).hexdigest()[:40]
        upper = hashlib.sha256(digits.encode()).digest()
        mixed = (c.upper() if upper[i % 32] & 1 else c for i, c in enumerate(digits))
        return "0x" + "".join(mixed)

    def deposit_address(self, chain: str, card_id: str) -> str:
        """The deposit address of a card on a chain, in that chain's alphabet; without a card the shared one."""
        named = f"{chain}:{card_id}" if card_id else chain
        content = hashlib.sha256(f"{self._seed}:address:{named}".encode()).digest()
        if chain == "SOLANA":
            return chain_texts.base58(content)
        return chain_texts.tron_address(content[:20]) if chain == "TRON" else self.address(named)


def _passes_luhn(number: str) -> bool:
    digits = [int(digit) for digit in reversed(number)]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits)]
    return sum(doubled) % 10 == 0
