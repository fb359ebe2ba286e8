"""What the API says of itself: its OpenAPI description fetched, compared with what this client expects."""

__all__ = [
    "drift",
    "openapi_fetch",
]
