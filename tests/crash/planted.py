"""Bugs planted on purpose, to see that the programme finds them. Nothing here runs unless it is asked for."""

import logging
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from secrets import token_hex
from typing import Any

from bot.domain.secret import Secret
from bot.operations.card_order import Order
from bot.partner.client import PartnerClient
from bot.services.outbox import Outbox
from storage import requests


def new_key_on_retry() -> None:
    """Each send gets a key of its own: the classic way to pay twice."""
    honest = PartnerClient.top_up

    async def top_up(self: PartnerClient, card_id: str, body: bytes, *, key: str) -> Any:
        return await honest(self, card_id, body, key=f"{key}-{token_hex(4)}")

    _put(PartnerClient, "top_up", top_up)


def no_read_back() -> None:
    """What was left between send and mark is posted again without a look."""

    async def heal_one(self: Outbox, row: Any) -> None:
        async with self._core.store.begin() as tx:
            from storage import outbox

            await outbox.retry(tx, row.id, due_at=tx.now, error="not looked for")

    _put(Outbox, "_heal_one", heal_one)


def forgets_what_it_claimed() -> None:
    """A claim that a dead process left is never taken over: the request stays executing for ever."""
    honest = requests.due

    async def due(tx: Any, **more: Any) -> list[str]:
        found = []
        for request_id in await honest(tx, **more):
            request = await requests.get(tx, request_id)
            if request is not None and request.lease_owner is None:
                found.append(request_id)
        return found

    _put(requests, "due", due)


def logs_the_key() -> None:
    """A debug line with the authorisation in a form that no masking knows."""
    honest = PartnerClient.__init__

    def init(self: PartnerClient, base_url: str, key: Any, **more: Any) -> None:
        secret = key.reveal() if isinstance(key, Secret) else key
        line = b64encode(f"k:{secret}".encode()).decode()
        logging.getLogger("countersign.planted").debug("basic %s", line)
        honest(self, base_url, key, **more)

    _put(PartnerClient, "__init__", init)


def shows_the_phone() -> None:
    """The phone is no longer masked where terms are shown and kept."""
    _unmask("phone")


def keeps_the_email() -> None:
    """The e-mail stays readable in a plain column."""
    _unmask("email")


def _unmask(name: str) -> None:
    fields = tuple(replace(f, mask=str) if f.name == name else f for f in Order.fields)
    setattr(Order, "fields", fields)  # noqa: B010 - a class variable of the type that mypy knows


def _put(where: Any, name: str, what: Callable[..., Any]) -> None:
    setattr(where, name, what)


BUGS: dict[str, Callable[[], None]] = {
    "new-key-on-retry": new_key_on_retry,
    "no-read-back": no_read_back,
    "logs-the-key": logs_the_key,
    "shows-the-phone": shows_the_phone,
    "keeps-the-email": keeps_the_email,
    "forgets-what-it-claimed": forgets_what_it_claimed,
}
