"""What must stand nowhere: secrets, codes, addresses of card details, personal data that is done with (I-15, I-16)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from tests.simulation.invariants.record import Record
from tests.simulation.world import MASTERS, SLACK_TOKENS, START

KEPT_FOR = timedelta(minutes=6)
# Also at the end of a sentence; decimals of a number are none.
_CARD_NUMBER = re.compile(rb"(?<![0-9A-Za-z-])(?<![0-9]\.)[0-9]{13,19}(?![0-9A-Za-z-]|\.[0-9])")


class Secrecy:
    """Looks through the bytes of the database and through everything that left it."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def at_the_end(self) -> None:
        """The files, the messages, the copies, the errors."""
        world = self.known.world
        files = b"".join(path.read_bytes() for path in sorted(world.folder.iterdir()))
        slack = json.dumps(list(world.slack.store.messages.values()), default=str).encode()
        relay = b"".join(copy.body for copies in world.relay.arrived.values() for copy in copies)
        errors = "\n".join(world.errors).encode()
        places = (("a file", files), ("Slack", slack), ("the other system", relay), ("an error", errors))
        for what, secret in self._secrets():
            for place, content in places:
                if secret.encode() in content:
                    self.known.broken("I-16 secrets", f"{what} stands in {place}")
        for what, secret in self._only_in_slack():
            for place, content in places:
                if place != "Slack" and secret.encode() in content:
                    self.known.broken("I-15 codes", f"{what} stands in {place}")
        for place, content in places[1:3]:
            for found in _CARD_NUMBER.findall(content):
                if _luhn(found):
                    self.known.broken("I-15 codes", f"{found.decode()} stands in {place}")
        self._purged()

    def _secrets(self) -> Iterator[tuple[str, str]]:
        for key in (*self.known.keys, self.known.world.installation.api_key):
            yield "a key of the API", key
        for master in MASTERS:
            yield "a master key", master
        for token in SLACK_TOKENS:
            yield "a token of Slack", token
        for row in self.known.world.partner.store.all("SELECT secret FROM webhooks"):
            yield "the secret of the webhook", row["secret"]

    def _only_in_slack(self) -> Iterator[tuple[str, str]]:
        """What its receiver reads in Slack, and nobody keeps."""
        for row in self.known.world.partner.store.all(
            "SELECT payload FROM events WHERE type = 'card.3ds_challenge'"
        ):
            yield "a one-time code", f'"code":"{json.loads(row["payload"])["code"]}"'
        for _at, link in self.known.shown:
            yield "the token of a link", link.rpartition("#")[2]

    def _purged(self) -> None:
        """Personal data of an order goes with its end."""
        now = START + timedelta(seconds=self.known.world.loop.time())
        rows: list[Any] = self.known.world.rows(
            "SELECT id, state FROM request WHERE sealed_private IS NOT NULL AND finished_at < ?"
            " AND state IN ('succeeded', 'failed', 'rejected', 'cancelled', 'expired')",
            (now - KEPT_FOR).isoformat(),
        )
        for row in rows:
            self.known.broken(
                "I-15 purged", f"{row['id']} is {row['state']}, and its personal data is still kept"
            )


def _luhn(digits: bytes) -> bool:
    total = 0
    for place, digit in enumerate(reversed([one - 48 for one in digits])):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0
