"""Bugs planted on purpose, to see that the programme finds them. Nothing here runs unless it is asked for."""

import asyncio
import logging
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from secrets import token_hex
from typing import Any

from bot.operations import value_types
from bot.operations.card_order import Order
from bot.partner.client import PartnerClient
from bot.partner.secret import Secret
from bot.services.events import Intake, inbox
from bot.services.messages import Outbox
from storage.events import inbox as inbox_rows
from storage.events import relay as relay_rows
from storage.requests import requests

_UNDER_WAY: set[asyncio.Task[None]] = set()
_TAKEN: list[Any] = []


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
            from storage.messages import outbox

            await outbox.retry(tx, row.id, due_at=tx.now, error="not looked for")

    _put(Outbox, "_heal_one", heal_one)


def gives_messages_up() -> None:
    """What Slack has refused twice is never sent, whatever the reason."""
    honest = Outbox._after_trouble

    async def after_trouble(self: Outbox, row: Any, lane: Any, trouble: Any) -> None:
        if row.attempts >= 1 and trouble.retry_after_s is None and not trouble.maybe_sent:
            await self._drop(row, str(trouble))
        else:
            await honest(self, row, lane, trouble)

    _put(Outbox, "_after_trouble", after_trouble)


def forgets_what_it_claimed() -> None:
    """A claim that a dead process left is never taken over: the request stays executing without end."""
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


def answers_before_storing() -> None:
    """A delivery is answered at once and stored a moment later: quicker, until the power goes."""
    honest = Intake.accept

    async def accept(self: Intake, *shown: Any) -> bool:
        async def later() -> None:
            await asyncio.sleep(0.05)
            await honest(self, *shown)

        _UNDER_WAY.add(asyncio.create_task(later()))
        return True

    _put(Intake, "accept", accept)


def marks_handled_first() -> None:
    """Events are marked handled in a commit of their own, before what they cause."""
    honest, honest_any = inbox_rows.waiting, inbox_rows.any_waiting

    async def waiting(tx: Any, **more: Any) -> list[Any]:
        return _TAKEN or await honest(tx, **more)

    async def any_waiting(tx: Any) -> bool:
        return bool(_TAKEN) or await honest_any(tx)

    async def process_next(core: Any, **more: Any) -> int:
        async with core.store.begin() as tx:
            _TAKEN[:] = await honest(tx)
            for event in _TAKEN:
                await inbox_rows.processed(tx, event.event_id)
        return await handle(core, **more)

    handle = inbox.process_next
    _put(inbox_rows, "waiting", waiting)
    _put(inbox_rows, "any_waiting", any_waiting)
    _put(inbox, "process_next", process_next)


def marks_copies_first() -> None:
    """Copies are marked as sent in the commit that takes them, before any of them is."""
    honest = relay_rows.take

    async def take(tx: Any, destination: str, **more: Any) -> relay_rows.Taken:
        queued = await honest(tx, destination, **more)
        await relay_rows.sent(tx, [message.id for message in queued.deliveries])
        return queued

    _put(relay_rows, "take", take)


def _unmask(name: str) -> None:
    def bare(text: str) -> value_types.Private:
        return value_types.Private(text, text)

    field = vars(Order)[name]
    field.holds = replace(field.holds, read=bare, load=bare)


def _put(where: Any, name: str, what: Callable[..., Any]) -> None:
    setattr(where, name, what)


BUGS: dict[str, Callable[[], None]] = {
    "new-key-on-retry": new_key_on_retry,
    "no-read-back": no_read_back,
    "gives-messages-up": gives_messages_up,
    "logs-the-key": logs_the_key,
    "shows-the-phone": shows_the_phone,
    "keeps-the-email": keeps_the_email,
    "forgets-what-it-claimed": forgets_what_it_claimed,
    "answers-before-storing": answers_before_storing,
    "marks-handled-first": marks_handled_first,
    "marks-copies-first": marks_copies_first,
}
