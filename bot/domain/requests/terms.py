"""The digest of a request's terms: what people approve is what is sent, to the byte.

The digest covers everything that is fixed when a request is made and that people read or rely on,
and a keyed MAC of the frozen body, which holds the private values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def terms_digest(fixed: Mapping[str, Any]) -> str:
    """SHA-256 in hex over canonical JSON (sorted keys, no spaces, UTF-8). Values are JSON values."""
    canonical = json.dumps(dict(fixed), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(b"countersign-terms-v1\n" + canonical.encode()).hexdigest()


def mask_phone(phone: str) -> str:
    """`••••4567`: enough to recognise, not enough to call."""
    return "••••" + phone[-4:] if len(phone) > 6 else "••••"


def mask_email(email: str) -> str:
    """`a•••@•••.com`"""
    local, _, domain = email.partition("@")
    return f"{local[:1]}•••@•••.{domain.rpartition('.')[2]}"
