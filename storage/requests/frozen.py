"""What was sealed with a request when it was made: the private values as typed, and the body to send byte for byte."""

from __future__ import annotations

import json
from dataclasses import dataclass

from storage.errors import Purged
from storage.sealed_columns import REQUEST_BODY, REQUEST_PRIVATE
from storage.transaction import Tx
from storage.vault import Sealed


@dataclass(frozen=True, slots=True, repr=False)
class Frozen:
    """What was sealed with a request: the private values as typed, and the body to send byte for byte."""

    private: dict[str, str]
    body: bytes

    def __repr__(self) -> str:
        return "<frozen request>"


def opened(tx: Tx, request_id: str, sealed_private: Sealed | None, sealed_body: Sealed | None) -> Frozen:
    """Raises `Purged` when the details were dropped, `CannotOpen` when they were tampered with."""
    if sealed_private is None or sealed_body is None:
        raise Purged(f"The details of {request_id} were deleted when its outcome was settled.")
    private = json.loads(tx.vault.open(sealed_private, REQUEST_PRIVATE.ref(request_id)))
    return Frozen(private, tx.vault.open(sealed_body, REQUEST_BODY.ref(request_id)))
