"""What each call of the API does, one file for each section of the document, and the table of them all.

`table` names every operation with its method, path, scope and schemas; routing, faults and the OpenAPI
description read it. The other modules are the handlers: a `Call` in, an `Answer` out, or a `Refusal` raised.
"""

from __future__ import annotations

from sandbox.partner.routes.table import BASE_PATH, OPERATIONS, Operation

__all__ = ["BASE_PATH", "OPERATIONS", "Operation", "table", "topups", "unloads"]
