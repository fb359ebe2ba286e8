"""The alerts of the float: what each kind is and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from bot.domain.alerts.alert_kind import AlertKind, Ending, Remedy, Said, Severity, Wording, one, over
from bot.domain.alerts.alert_rules import FloatAlert
from bot.domain.money import format_usd
from bot.domain.sentences import Lines

FLOAT_LOW = AlertKind(
    name="float_low",
    raised_when="less than `alerts.float.floor_usd` can be spent",
    found_by="poller",
    ends="two readings at `clear_usd` or above",
    wordings={
        "": Wording(
            (Severity.WARNING, Severity.CRITICAL),
            "Float of {program} is low: {usable}, floor {floor}",
            "Balance {balance}, available {available}.{why} Top-ups above what is available fail. Submit funding; the"
            " alert clears at {clear}.",
        ),
        "rising": Wording(
            (Severity.WARNING,),
            "Float of {program} is rising: {usable}",
            "It was below its floor of {floor}. The alert clears when two readings in a row are at {clear} or above."
            "{why}",
        ),
    },
    endings={
        "": Ending(
            "Float of {program} is back to {usable}",
            "It was below {floor} for {lasted}. The lowest was {lowest}.",
        ),
        "not read": Ending(
            "Float of {program} is back", "It was low for {lasted}. `/float` shows what it is now."
        ),
    },
    remedies=(Remedy.SUBMIT_FUNDING,),
    digest_word="float low",
    has_float_chart=True,
    runbook="float_low-runway",
    condition_name="float",
)

RUNWAY = AlertKind(
    name="runway",
    raised_when="at the pace of the last seven days the float is at its floor within `runway_hours`",
    found_by="poller",
    ends="it lasts a quarter longer than that, or is low already",
    wordings={
        "": Wording(
            # What is verified may still be held or refused, so it is said all the same.
            (Severity.WARNING, Severity.INFO),
            "Float of {program} lasts about {hours} hours",
            "At the pace of the last days the float of {program} reaches its floor of {floor} around"
            " {at:%Y-%m-%d %H:00} UTC, pending requests included.{why} Submit funding in time: a transfer takes"
            " minutes on POLYGON and hours on BNB and BASE.",
        )
    },
    endings={
        "": Ending(
            "Float of {program} lasts longer again: {usable}",
            "At the pace of the last days it will not reach its floor of {floor} soon. The forecast was short for"
            " {lasted}.",
        ),
        "low": Ending(
            "Float of {program} is low now: {usable}",
            "The forecast came true after {lasted}. The alert of the low float stays open.",
        ),
        "not read": Ending("Float of {program} lasts longer again", "The forecast was short for {lasted}."),
    },
    remedies=(Remedy.SUBMIT_FUNDING,),
    digest_word="float not lasting",
    has_float_chart=True,
    runbook="float_low-runway",
)

LEDGER_DIFFERS = AlertKind(
    name="ledger_differs",
    raised_when="the ledger does not add up to the float, seen twice",
    found_by="poller",
    ends="they agree",
    wordings=one(
        Severity.CRITICAL,
        "Ledger and float of {program} differ by {difference}",
        "The rows of the ledger add up to {total}, but the float is {balance}. Countersign saw this twice while no"
        " money moved. Sending continues. Compare the newest rows with the requests here and ask your card provider.",
    ),
    endings=over("Ledger and float of {program} agree again", "They differed for {lasted}."),
    condition_name="ledger",
)

UNEXPLAINED = AlertKind(
    name="unexplained_movement",
    raised_when="the ledger shows movements that no request here made, a row of a request that was never sent, or"
    " the return of one that succeeded",
    found_by="poller",
    ends="never: acknowledge it when you are done",
    wordings={
        "orphans": Wording(
            (Severity.CRITICAL,),
            "Float of {program}: {count} made through Countersign, which has no request for it",
            "{rows}\nCountersign made the idempotency keys of these, and its database has no request for them. The"
            " database was restored from a backup, or somebody copied it or its keys. Pause sending with `/countersign"
            " pause`, ask your card provider about these, and replace the API key if nobody can explain them.",
        ),
        "unsent": Wording(
            (Severity.CRITICAL,),
            "{amount} left the float of {program} for {request}, which is {state}",
            "{rows}\nCountersign sent nothing for that request, and only its database has the request's idempotency"
            " key. Somebody may use a copy of the database, or an older backup was restored. Pause sending with"
            " `/countersign pause` and ask your card provider about this key. Do not request it again before that.",
        ),
        "unsent_no_debit": Wording(
            (Severity.CRITICAL,),
            "The ledger of {program} has {request}, which is {state}",
            "{rows}\nCountersign sent nothing for that request, and only its database has the request's idempotency"
            " key. Somebody may use a copy of the database, or an older backup was restored. Pause sending with"
            " `/countersign pause` and ask your card provider about this key. Do not request it again before that.",
        ),
        "returned": Wording(
            (Severity.CRITICAL,),
            "{amount} came back to the float of {program} for {request}, which is recorded as succeeded",
            "{rows}\nThe card may not have the money. Look at the card's balance and ask your card provider about"
            " this key. Do not request it again before that.",
        ),
        "foreign": Wording(
            (Severity.WARNING,),
            "Float of {program} fell by {amount}, and no request here explains it",
            "{rows}\nSomebody else uses this account, or your card provider booked this. If nobody can explain it,"
            " pause sending with `/countersign pause` and replace the API key.",
        ),
    },
    digest_word="movements nobody explains",
    condition_name="movement",
)
_ROWS_SHOWN = 10


def unexplained(program: str, case: str, rows: Sequence[str], amount_usd: Decimal) -> Said:
    """`rows` are the ledger's, a line each, the newest first; `amount_usd` is what they took from the float."""
    count = "1 movement" if len(rows) == 1 else f"{len(rows)} movements"
    return UNEXPLAINED.says(
        case, program=program, count=count, rows=_shown(rows), amount=format_usd(amount_usd)
    )


def unsent(program: str, rows: Sequence[str], amount_usd: Decimal, *, request: str, state: str) -> Said:
    """The same of rows under the key of one `request`, for which nothing was sent: its id and its sentence."""
    return UNEXPLAINED.says(
        "unsent" if amount_usd > 0 else "unsent_no_debit",
        program=program,
        rows=_shown(rows),
        amount=format_usd(amount_usd),
        request=request,
        state=state,
    )


def returned(program: str, rows: Sequence[str], amount_usd: Decimal, *, request: str) -> Said:
    """Rows by which the amount of a request that succeeded came back: `request` is its id and its sentence."""
    return UNEXPLAINED.says(
        "returned", program=program, rows=_shown(rows), amount=format_usd(amount_usd), request=request
    )


def _shown(rows: Sequence[str]) -> str:
    more = [f"and {len(rows) - _ROWS_SHOWN} more"] if len(rows) > _ROWS_SHOWN else []
    return Lines("\n".join([*rows[:_ROWS_SHOWN], *more]))


def float_low(
    program: str,
    rule: FloatAlert,
    *,
    usable_usd: Decimal,
    balance_usd: Decimal,
    available_usd: Decimal,
    pending_usd: Decimal,
    coming_usd: Decimal,
) -> Said:
    """What a low float says, and why it may be so. Amounts in USD, as read from GET /me."""
    why = []
    if balance_usd < 0:
        why.append("The balance is below zero: a credit may have been taken back. Look at the ledger.")
    elif available_usd < balance_usd:
        why.append(
            "Available is less than the balance because your card provider caps what may be on cards; more funding does"
            " not change that."
        )
    if usable_usd >= rule.floor_usd:
        return FLOAT_LOW.says(
            "rising",
            program=program,
            usable=format_usd(usable_usd),
            floor=format_usd(rule.floor_usd),
            clear=format_usd(rule.clear_usd),
            why=_after(*about_to_change(pending_usd, coming_usd)),
        )
    return FLOAT_LOW.says(
        severity=Severity.CRITICAL if usable_usd <= 0 else Severity.WARNING,
        program=program,
        usable=format_usd(usable_usd),
        floor=format_usd(rule.floor_usd),
        balance=format_usd(balance_usd),
        available=format_usd(available_usd),
        why=_after(*why, *about_to_change(pending_usd, coming_usd)),
        clear=format_usd(rule.clear_usd),
    )


def runway(
    program: str,
    rule: FloatAlert,
    *,
    hours: float,
    at: datetime,
    pending_usd: Decimal,
    coming_usd: Decimal,
    hours_with_funding: float | None,
    most: int,
) -> Said:
    """How long the float lasts. `hours_with_funding`: once what is on its way is credited; None: more than `most`."""
    with_funding = [f"With it, it lasts {_lasts(hours_with_funding, most)}."] if coming_usd else []
    return RUNWAY.says(
        severity=Severity.INFO if hours_with_funding is None else Severity.WARNING,
        program=program,
        hours=max(1, round(hours)),
        floor=format_usd(rule.floor_usd),
        at=at,
        why=_after(*about_to_change(pending_usd, coming_usd), *with_funding),
    )


def about_to_change(pending_usd: Decimal, coming_usd: Decimal) -> Sequence[str]:
    """Sentences on what waiting requests would take from the float, and on funding on its way."""
    said = []
    if pending_usd:
        said.append(f"Requests that wait would take {format_usd(pending_usd)}.")
    if coming_usd:
        said.append(f"Funding of {format_usd(coming_usd)} is on its way and not yet credited.")
    return said


def _lasts(hours: float | None, most: int) -> str:
    return f"more than {most} h" if hours is None else f"about {max(1, round(hours))} h"


def _after(*sentences: str) -> str:
    """Each sentence with a space before it."""
    return "".join(f" {sentence}" for sentence in sentences)
