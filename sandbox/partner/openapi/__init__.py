"""The served OpenAPI 3.1 description, written from the same tables that check requests.

`document` writes it, `examples` fills in an example of every schema.
"""

from __future__ import annotations

__all__ = ["document"]
