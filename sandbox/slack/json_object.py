"""The type of a decoded JSON object, as Slack sends and takes them."""

from __future__ import annotations

from typing import Any

#: Keys as Slack names them. What a value may be is said where the object is made or checked.
Json = dict[str, Any]
