"""The page of card details: one document without anything from elsewhere, and the policy that keeps it so."""

from __future__ import annotations

from collections.abc import Collection
from importlib.resources import files

from bot.domain.card_details import Manner


class Page:
    """Reads its parts once. `origins` are the hosts from which card details are expected."""

    def __init__(self, origins: Collection[str]) -> None:
        parts = {
            name: files(__package__).joinpath(f"page.{name}").read_text() for name in ("html", "css", "js")
        }
        self._document = parts["html"].replace("%STYLE%", parts["css"]).replace("%SCRIPT%", parts["js"])
        self._origins = " ".join(sorted(origins)) or "'none'"

    def html(self, manner: Manner, nonce: str) -> str:
        return self._document.replace("%MANNER%", manner.value).replace("%NONCE%", nonce)

    def policy(self, manner: Manner, nonce: str) -> str:
        """As a frame, only the card provider's page may be embedded; as text, only its exchange may be asked."""
        framed, asked = (self._origins, "'self'")
        if manner is Manner.TEXT:
            framed, asked = "'none'", "'self'" + (f" {self._origins}" if self._origins != "'none'" else "")
        return "; ".join(
            (
                "default-src 'none'",
                f"script-src 'nonce-{nonce}'",
                f"style-src 'nonce-{nonce}'",
                f"connect-src {asked}",
                f"frame-src {framed}",
                "form-action 'none'",
                "base-uri 'none'",
                "object-src 'none'",
                "frame-ancestors 'none'",
            )
        )
