"""A request as if it had been made otherwise: an earlier time, an end that is near."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import text

from bot.domain.requests import Request
from bot.services.requests.signatures import digest_of
from storage.requests import requests
from storage.transaction import Tx


async def requested_with(tx: Tx, request: Request, **fixed: Any) -> Request:
    """Change what is fixed when a request is made, and sign it as changed: else nobody could approve it."""
    changed = await requests.touch(tx, request, **fixed)
    changed = replace(changed, digest=digest_of(tx.vault, changed))
    signed = {"id": changed.id, "digest": changed.digest}
    await tx.run(text("UPDATE request SET digest = :digest WHERE id = :id"), signed)
    return changed
