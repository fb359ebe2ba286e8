"""The fingerprints of the audit log's entries, as a process keeps them: enough to see whether one is another now."""

from __future__ import annotations

#: So many bytes of each entry's fingerprint: nobody makes another entry with the same ones.
_EACH = 16


class Fingerprints:
    """Those of the entries from number `first` on, without a gap. What is learned for good is shared by all later ones;
    `tail` is of this one alone."""

    def __init__(
        self, first: int = 1, shared: bytearray | None = None, length: int = 0, tail: bytes = b""
    ) -> None:
        self.first = first
        self._shared = bytearray() if shared is None else shared
        self._length, self._tail = length, tail

    def and_(self, hashes: list[str]) -> Fingerprints:
        more = b"".join(bytes.fromhex(one)[:_EACH] for one in hashes)
        return Fingerprints(self.first, self._shared, self._length, self._tail + more)

    def has(self, seq: int, digest: str) -> bool:
        """Is this the fingerprint (hex) of the entry with this number?"""
        at = (seq - self.first) * _EACH
        try:
            wanted = bytes.fromhex(digest)[:_EACH]
        except ValueError:
            return False
        if at < 0 or len(wanted) != _EACH:
            return False
        if at < self._length:
            return bytes(self._shared[at : at + _EACH]) == wanted
        return self._tail[at - self._length : at - self._length + _EACH] == wanted

    def settled(self) -> Fingerprints | None:
        """With its tail among those that are shared; None where another reading found others meanwhile."""
        known = bytes(self._shared[self._length :])
        if not self._tail.startswith(known):
            return None
        self._shared.extend(self._tail[len(known) :])
        return Fingerprints(self.first, self._shared, len(self._shared))
