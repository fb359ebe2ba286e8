"""What each call of the API does, one file for each section of the document, and the table of them all.

Each section has its handlers (a `Call` in, an `Answer` out, or a `Refusal` raised) and its `OPERATIONS`: method,
path, scope and schemas of each. `table` puts them together for routing, faults and the OpenAPI description.
"""

from __future__ import annotations

from sandbox.partner.calls import Operation
from sandbox.partner.routes.table import BASE_PATH, OPERATIONS

__all__ = ["BASE_PATH", "OPERATIONS", "Operation", "table", "topups", "unloads"]
