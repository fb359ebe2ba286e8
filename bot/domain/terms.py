"""The digest of a request's terms: what people approve is what is sent, to the byte.

The digest covers the visible terms, the program, the target, the key, and a keyed MAC of the frozen
body (which holds the private values), so it can be recomputed after private details were purged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping


def terms_digest(
    *,
    request_id: str,
    program: str,
    kind: str,
    subject: str,
    requester: str,
    reason: str,
    terms: Mapping[str, str],
    key: str,
    body_mac: str,
) -> str:
    """SHA-256 in hex over canonical JSON (sorted keys, no spaces, UTF-8)."""
    canonical = json.dumps(
        {
            "id": request_id,
            "program": program,
            "kind": kind,
            "subject": subject,
            "requester": requester,
            "reason": reason,
            "terms": dict(terms),
            "key": key,
            "body_mac": body_mac,
        },
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    return hashlib.sha256(b"countersign-terms-v1\n" + canonical.encode()).hexdigest()


def mask_phone(phone: str) -> str:
    """`••••4567`: enough to recognise, not enough to call."""
    return "••••" + phone[-4:] if len(phone) > 6 else "••••"


def mask_email(email: str) -> str:
    """`a•••@•••.com`"""
    local, _, domain = email.partition("@")
    return f"{local[:1]}•••@•••.{domain.rpartition('.')[2]}"
