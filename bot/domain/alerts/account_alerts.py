"""The alerts of the account at the API: its card allowance, its key, and that it cannot be read."""

from __future__ import annotations

from datetime import datetime

from bot.domain.alerts.alert_kind import AlertKind, Ending, Said, Severity, Wording, one, over
from bot.domain.error_messages import MESSAGES

_ERRORS_OF_SERVERS = 500

ALLOWANCE = AlertKind(
    name="allowance",
    raised_when="a fifth, a tenth, a twentieth of the card allowance is left",
    found_by="poller",
    ends="more than a fifth is left",
    wordings={
        "": Wording(
            tuple(Severity),
            "Card allowance of {program}: {left} of {limit} left",
            "{total} of {limit} cards were ordered. Closed cards count too. Ask your card provider for a larger"
            " allowance before the last one is ordered.",
        )
    },
    endings={
        "": Ending(
            "{program} has {left} cards left to order", "The limit is {limit} now. It was short for {lasted}."
        ),
        "not read": Ending("{program} has enough cards left to order", "It was short for {lasted}."),
    },
    digest_word="card allowance nearly used",
)

POLLER_SILENT = AlertKind(
    name="poller_silent",
    raised_when="the account cannot be read",
    found_by="poller",
    ends="it is read again, or sending is paused for its key",
    wordings=one(
        Severity.CRITICAL,
        "The account of {program} cannot be read",
        "Countersign has read nothing {since}. The last try said: {error}. Until it can read again, nobody is warned"
        " about the float, funding, blocked cards and missed events. Countersign keeps trying.",
    ),
    endings={
        "": Ending(
            "The account of {program} is read again",
            "It could not be read for {lasted}. Countersign now reads what it missed.",
        ),
        "paused": Ending(
            "The account of {program} is not read while its key is refused",
            "The alert of the key stays open; this one was open for {open_for}.",
        ),
    },
    runbook="poller_silent-scope",
    condition_name="poller",
)

SCOPE = AlertKind(
    name="scope",
    raised_when="the key may not make one of the calls that Countersign makes; everything else continues",
    found_by="execution, poller, card details",
    ends="the key may make it, nothing that waits for it is left, or two people resume",
    wordings=one(
        Severity.WARNING,
        "The key of {program} may not call {endpoint}",
        "Your card provider said: {error} Requests that need this call wait until the key has the scope, or expire."
        " Everything else continues, and freezes are still tried. Ask your card provider to add the scope.",
    ),
    endings=over(
        "The key of {program} has the scope that was missing",
        "It was missing for {lasted}. Countersign now reads what it missed.",
    ),
    runbook="poller_silent-scope",
)

KEY_TROUBLE = AlertKind(
    name="key_trouble",
    raised_when="your card provider does not take the program's key; nothing is sent meanwhile",
    found_by="execution, poller",
    ends="a key works",
    wordings=one(
        Severity.CRITICAL,
        "Sending to {program} is paused: its key is not accepted",
        "{cause} Nothing is sent until it works again; approved requests wait or expire. Set a working key with"
        " `countersign keys set {program}`, or ask your card provider.",
    ),
    endings={
        "": Ending(
            "The key of {program} works again",
            "Nothing was sent for {lasted}. Approved requests that are still valid are sent now.",
        ),
        "paused": Ending(
            "The key of {program} works again",
            "It did not work for {lasted}. Sending stays paused, as people decided.",
        ),
        "other account": Ending(
            "The key of {program} works, but belongs to another account",
            "It did not work for {lasted}. Nothing is sent: the alert of the account says what to do.",
        ),
    },
    is_mutable=False,
    condition_name="key",
)

ACCOUNT_CHANGED = AlertKind(
    name="account_changed",
    raised_when="the program's key belongs to another account than before; nothing is sent meanwhile",
    found_by="poller",
    ends="the key is of the known account again",
    wordings=one(
        Severity.CRITICAL,
        "Sending to {program} is paused: its key belongs to another account",
        "Ids and requests of two accounts must not mix, so nothing is sent or looked up until the key belongs to the"
        " same account as before. Set that key with `countersign keys set {program}` and restart. Another account needs"
        " a program name of its own.",
    ),
    endings={
        "": Ending(
            "The key of {program} belongs to the known account again",
            "Sending was paused for {lasted}, and has resumed.",
        ),
        "paused": Ending(
            "The key of {program} belongs to the known account again",
            "It belonged to another account for {lasted}. Sending stays paused, as people decided.",
        ),
    },
    is_mutable=False,
    condition_name="account",
)


def poller_silent(program: str, *, last_read_at: datetime | None, error: str | None) -> Said:
    """`last_read_at`: None where it was never read. `error`: what the last try said; None where it only took long."""
    since = f"since {last_read_at:%Y-%m-%d %H:%M} UTC" if last_read_at else "yet"
    said = no_answer(None) if error is None else error
    return POLLER_SILENT.says(program=program, since=since, error=said)


def is_of_a_server(status: int) -> bool:
    """Is it an error of a server, as whatever stands before an API that is away gives it?"""
    return status >= _ERRORS_OF_SERVERS


def no_answer(status: int | None) -> str:
    """What the API does instead of answering; `status`: of what came back, None where nothing did."""
    if status is None:
        return "it did not answer in time"
    if is_of_a_server(status):
        return f"it answers only errors (HTTP {status})"
    return f"what answers is not its API (HTTP {status})"


def key_trouble(program: str) -> Said:
    """The API does not take the program's key."""
    return KEY_TROUBLE.says(program=program, cause=MESSAGES["UNAUTHORIZED"].happened)
