"""A webhook endpoint with the standard library: takes what is genuine, once, and prints purchases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from countersign_partner import DeliveryRefused, Secret, unwrap, verify
from countersign_partner.models import CardAuthorized, CardDeclined


class Receiver(ThreadingHTTPServer):
    """Listens on this machine; `purchases` are the events that were taken, a line each."""

    def __init__(self, secrets: Sequence[Secret], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.secrets = secrets
        self.seen: set[str] = set()
        self.purchases: list[str] = []

    def take(self, body: bytes, headers: dict[str, str]) -> int:
        """The HTTP status for a delivery."""
        try:
            delivery = verify(body, headers, self.secrets, datetime.now(UTC))
        except DeliveryRefused as refused:
            return refused.status
        if delivery.id not in self.seen:  # deliveries come more than once, in any order
            self.seen.add(delivery.id)
            event = unwrap(delivery)
            if isinstance(event, CardAuthorized):
                self.purchases.append(f"{event.data.amount_usd} USD at {event.data.merchant}")
            elif isinstance(event, CardDeclined):
                self.purchases.append(f"declined at {event.data.merchant}")
        return 200  # also for types that are new


class Handler(BaseHTTPRequestHandler):
    """Reads one delivery."""

    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.server.take(body, dict(self.headers)))
        self.end_headers()

    def log_message(self, format: str, *given: object) -> None:  # noqa: A002 - as above
        """Keep the addresses of deliveries out of the terminal."""
