"""What this process knows of the audit chain, in memory: nobody who writes to the database takes it away.

Of no use after a start: then anchors outside the database say where the chain ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A passkey as others confirmed it: whose it is, and its public key in base64url."""

    person: str
    public_key: str


@dataclass(frozen=True, slots=True)
class PasskeysOnRecord:
    """What the entries up to number `seq`, with the fingerprint `hash`, tell of passkeys.

    `counting`, by id: those that were confirmed and have not ended, by themselves, with all of their person's, or with
    everybody's. `had_one`: who had one since everybody's were last reset; `reset_at`: when that was (None = never), as
    text.
    """

    seq: int = 0
    hash: str = ""
    counting: Mapping[str, Confirmed] = field(default_factory=dict)
    had_one: frozenset[str] = frozenset()
    reset_at: str | None = None


@dataclass(slots=True)
class ChainMemory:
    """`end_seq` and `end_hash`: where the chain ended when this process added to it last; None before that. Others may
    have added since, and what was added here may have been rolled back: whoever relies on it checks it in the
    statement that moves the end.

    `known_seq` and `known_hash` are of the last entry that this process has committed: it is there for good.
    `passkeys`: as far as the chain was checked and read.
    """

    end_seq: int | None = None
    end_hash: str = ""
    known_seq: int = 0
    known_hash: str = ""
    passkeys: PasskeysOnRecord = field(default_factory=PasskeysOnRecord)

    def committed(self, seq: int, digest: str) -> None:
        """This entry is in the database for good."""
        if seq > self.known_seq:
            self.known_seq, self.known_hash = seq, digest

    def learned(self, found: PasskeysOnRecord) -> None:
        """This is what the chain tells of passkeys, all of it committed."""
        if found.seq > self.passkeys.seq:
            self.passkeys = found
