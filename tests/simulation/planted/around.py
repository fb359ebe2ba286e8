"""Bugs around a request: its terms, its people, the ledger, events, copies, links, what is kept and what is read."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import select, update

from bot.domain.events import purchase_of
from bot.domain.requests import Conditions, Event, Reason, State, decide
from bot.partner.client import PartnerClient
from bot.services import alerts
from bot.services.alerts import ledger_causes
from bot.services.events import relay
from bot.services.events.intake import Intake
from bot.services.messages import reminders
from bot.services.passkeys import proofs
from bot.services.requests import approvals
from storage import audit
from storage import tables as t
from storage.events import inbox as inbox_rows
from storage.events import purchases
from storage.operators import programs
from storage.requests import requests
from tests.simulation.planted.bug import Acts, Bug, peek, put


def _another_limit(stack: ExitStack, acts: Acts) -> None:
    honest = PartnerClient.set_limits

    async def set_limits(self: PartnerClient, card_id: str, body: bytes, **more: Any) -> Any:
        tenfold = re.sub(rb"([0-9])\.00", rb"\g<1>0.00", body)
        return await honest(self, card_id, tenfold if tenfold != body and acts() else body, **more)

    put(stack, PartnerClient, "set_limits", set_limits)


def _judged_otherwise(wrong: Reason, change: Any) -> Any:
    """The refusal of an approval for this reason is judged again with other facts."""

    def plant(stack: ExitStack, acts: Acts) -> None:
        def judged(request: Any, made: Any, **given: Any) -> Any:
            verdict = decide(request, made, **given)
            if verdict.reason is not wrong or not acts():
                return verdict
            return decide(request, made, **{**given, **change(request, given)})

        put(stack, approvals, "decide", judged)

    return plant


def _as_an_approver(_request: Any, given: Any) -> Any:
    standing = given["standing"]
    return {"standing": replace(standing, approvers=frozenset({*standing.approvers, given["actor"]}))}


def _as_nobodys_delegate(_request: Any, given: Any) -> Any:
    return {"standing": replace(given["standing"], stands_for={})}


def _a_click_is_enough(stack: ExitStack, acts: Acts) -> None:
    honest = proofs.needed_for
    put(stack, proofs, "needed_for", lambda core, request: honest(core, request) and not acts())


def _no_cool_off(stack: ExitStack, acts: Acts) -> None:
    """Nobody has time to stop what is approved."""
    honest = Conditions.of

    def of(made: Any) -> Conditions:
        found = honest(made)
        return replace(found, waits=timedelta(0)) if found.waits and acts() else found

    put(stack, Conditions, "of", staticmethod(of))


def _expired_waits_again(stack: ExitStack, acts: Acts) -> None:
    """An approval that ran out is waited for once more."""
    honest = requests.move

    async def move(tx: Any, request: Any, event: Event, **changes: Any) -> Any:
        if event is not Event.EXPIRE or request.state is not State.APPROVED or not acts():
            return await honest(tx, request, event, **changes)
        return await requests._write(tx, request, {"state": State.PENDING})

    put(stack, requests, "move", move)


def _version_goes_back(stack: ExitStack, acts: Acts) -> None:
    """A change that leaves the state takes the version back."""
    honest = requests.touch

    async def touch(tx: Any, request: Any, **changes: Any) -> Any:
        made = await honest(tx, request, **changes)
        if not acts():
            return made
        older = request.version - 1
        await tx.run(update(t.request).where(t.request.c.id == request.id).values(version=older))
        return replace(made, version=older)

    put(stack, requests, "touch", touch)


def _untold(kind: str) -> Any:
    """No alert of this kind is raised."""

    def plant(stack: ExitStack, acts: Acts) -> None:
        honest = alerts.raise_

        async def raise_(tx: Any, core: Any, said: Any, **more: Any) -> Any:
            return None if said.kind.name == kind and acts() else await honest(tx, core, said, **more)

        put(stack, alerts, "raise_", raise_)

    return plant


def _orphans_untold(stack: ExitStack, acts: Acts) -> None:
    """Debits under keys that nobody knows explain themselves."""
    honest = ledger_causes.unexplained

    async def unexplained(*given: Any) -> Any:
        orphans, foreign = await honest(*given)
        return ([], foreign) if orphans and acts() else (orphans, foreign)

    put(stack, ledger_causes, "unexplained", unexplained)


def _alerts_stay(stack: ExitStack, acts: Acts) -> None:
    """What an alert was about is over, and it stays open."""
    honest = alerts.resolve

    async def resolve(tx: Any, core: Any, condition: str, **more: Any) -> None:
        is_open = (t.alert.c.dedupe == condition, t.alert.c.state != "resolved")
        if not peek(tx, select(t.alert.c.id).where(*is_open)) or not acts():
            await honest(tx, core, condition, **more)

    put(stack, alerts, "resolve", resolve)


def _key_in_an_alert(stack: ExitStack, acts: Acts) -> None:
    """The key of the API stands in the text of an alert."""
    honest = alerts.raise_

    async def raise_(tx: Any, core: Any, said: Any, **more: Any) -> Any:
        if said.kind.name == "unresolved" and acts():
            key = await programs.key(tx, next(iter(core.partners)))
            said = replace(said, text=f"{said.text} {key.reveal()}")
        return await honest(tx, core, said, **more)

    put(stack, alerts, "raise_", raise_)


def _no_reminders(stack: ExitStack, acts: Acts) -> None:
    honest = reminders._remind

    async def remind(core: Any, request: Any, line: str, tag: str) -> None:
        if line != "reminder_unresolved" or not acts():
            await honest(core, request, line, tag)

    put(stack, reminders, "_remind", remind)


def _clearings_wait(stack: ExitStack, acts: Acts) -> None:
    """Events of one type are never taken up."""
    honest = inbox_rows.waiting

    async def waiting(tx: Any, **more: Any) -> Any:
        found = await honest(tx, **more)
        kept = [event for event in found if event.type != "card.transaction"]
        return kept if len(kept) < len(found) and acts() else found

    put(stack, inbox_rows, "waiting", waiting)


def _log_not_read(stack: ExitStack, acts: Acts) -> None:
    """Events that no delivery brought are not looked for."""
    honest = Intake.accept

    async def accept(self: Intake, program: str, received: Any, source: str, raw: bytes = b"") -> bool:
        return False if source == "poll" and acts() else await honest(self, program, received, source, raw)

    put(stack, Intake, "accept", accept)


def _newest_leg_alone(stack: ExitStack, acts: Acts) -> None:
    """A purchase is what the event says that came last."""

    def one_of(legs: Any) -> Any:
        return purchase_of(legs[-1:] if len(legs) > 1 and acts() else legs)

    put(stack, purchases, "purchase_of", one_of)


def _card_number_in_an_alert(stack: ExitStack, acts: Acts) -> None:
    honest = alerts.raise_

    async def raise_(tx: Any, core: Any, said: Any, **more: Any) -> Any:
        if said.kind.name == "unresolved" and acts():
            said = replace(said, text=f"{said.text} Card 4111111111111111.")
        return await honest(tx, core, said, **more)

    put(stack, alerts, "raise_", raise_)


def _details_are_kept(stack: ExitStack, acts: Acts) -> None:
    """What is personal of a request outlives it."""
    honest, honest_due = requests._purged, requests.purge_due

    async def purge_due(tx: Any, **more: Any) -> list[str]:
        found = await honest_due(tx, **more)
        return [] if found and acts() else found

    put(stack, requests, "_purged", lambda tx: {} if acts() else honest(tx))
    put(stack, requests, "purge_due", purge_due)


def _chain_is_cut(stack: ExitStack, acts: Acts) -> None:
    """The end of the audit chain forgets the last entry's hash."""
    honest = audit.append

    async def append(tx: Any, **entry: Any) -> Any:
        made = await honest(tx, **entry)
        if entry["action"] == "request.approval" and acts():
            await tx.run(update(t.audit_head).values(hash="0" * 64))
        return made

    put(stack, audit, "append", append)


def _copies_forgotten(stack: ExitStack, acts: Acts) -> None:
    honest = relay.enqueue

    async def enqueue(tx: Any, core: Any, received: Any) -> None:
        wanted = any(received.event.type in one.events for one in core.destinations)
        if not wanted or not acts():
            await honest(tx, core, received)

    put(stack, relay, "enqueue", enqueue)


def _copies_differ(stack: ExitStack, acts: Acts) -> None:
    """Each attempt sends other bytes."""
    honest = relay.Relay._send

    async def send(self: Any, destination: Any, sender: Any, message: Any, keys: Any) -> Any:
        if message.attempts > 1 and acts():
            message = replace(message, body=message.body + b" ")
        return await honest(self, destination, sender, message, keys)

    put(stack, relay.Relay, "_send", send)


def _doubts_not_looked_at(stack: ExitStack, acts: Acts) -> None:
    """What is unresolved stays so until people say how it ended."""
    honest, row = requests.due, t.request.c

    async def due(tx: Any, **more: Any) -> list[str]:
        found: list[str] = await honest(tx, **more)
        doubts = set(peek(tx, select(row.id).where(row.state == State.UNRESOLVED))) & set(found)
        return [one for one in found if one not in doubts] if doubts and acts() else found

    put(stack, requests, "due", due)


BUGS = (
    Bug("limits ten times as high", ("I-2 terms",), _another_limit),
    Bug("anybody may approve", ("I-3 able",), _judged_otherwise(Reason.NOT_AN_APPROVER, _as_an_approver)),
    Bug(
        "a delegate is another person",
        ("I-3 one person",),
        _judged_otherwise(Reason.OF_ONES_DELEGATE, _as_nobodys_delegate),
    ),
    Bug("a click is enough where a passkey is needed", ("I-3 passkey",), _a_click_is_enough),
    Bug("no time to stop what is approved", ("I-4 cool-off",), _no_cool_off),
    Bug("what expired waits again", ("I-5 moves",), _expired_waits_again),
    Bug("a version goes back", ("I-5 version",), _version_goes_back),
    Bug("debits of nobody are not told", ("I-10 orphans",), _orphans_untold),
    Bug("a pause is not told", ("I-8 at once",), _untold("paused")),
    Bug("alerts stay", ("every alert ends",), _alerts_stay),
    Bug("the API key in an alert", ("I-16 secrets",), _key_in_an_alert),
    Bug("no reminders of a doubt", ("I-8 reminders",), _no_reminders),
    Bug("clearings are not handled", ("I-12 events",), _clearings_wait),
    Bug("the log of events is not read", ("I-13 events",), _log_not_read),
    Bug("the newest event alone", ("I-14 purchases",), _newest_leg_alone),
    Bug("a card number in an alert", ("I-15 codes",), _card_number_in_an_alert),
    Bug("personal data outlives a request", ("I-15 purged",), _details_are_kept),
    Bug("the chain is cut", ("I-17 chain",), _chain_is_cut),
    Bug("copies are forgotten", ("I-19 relay",), _copies_forgotten),
    Bug("copies differ", ("I-19 relay",), _copies_differ),
    Bug("doubts are not looked at", ("I-23 settles",), _doubts_not_looked_at),
)
