"""The alerts of the account at the API: its card allowance, its key, and that it cannot be read."""

from __future__ import annotations

from datetime import datetime

from bot.domain.alerts.alert_kind import AlertKind, Ending, Said, Severity, Wording, one, over
from bot.domain.error_messages import MESSAGES

ALLOWANCE = AlertKind(
    name="allowance",
    raised_when="a fifth, a tenth, a twentieth of the card allowance is left",
    found_by="poller",
    ends="more than a fifth is left",
    wordings={
        "": Wording(
            tuple(Severity),
            "Card allowance of {program}: {left} of {limit} left",
            "{total} cards were ordered of the {limit} that may ever be; closed cards count and give nothing back. Ask"
            " the service for more before the last one is ordered.",
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
        "Nothing was read {since}; the last try said: {error}. Float, funding, blocked cards and missed events go"
        " unseen until it answers. It is tried on.",
    ),
    endings={
        "": Ending(
            "The account of {program} is read again",
            "It was not for {lasted}. What was missed is read now.",
        ),
        "paused": Ending(
            "The account of {program} is not read while its key is refused",
            "The alert of the key goes on; this one was open for {open_for}.",
        ),
    },
    runbook="poller_silent-scope",
    condition_name="poller",
)

SCOPE = AlertKind(
    name="scope",
    raised_when="the key may not make one of the calls that this bot makes; everything else goes on",
    found_by="execution, poller, card details",
    ends="the key may make it, nothing that waits for it is left, or two people resume",
    wordings=one(
        Severity.WARNING,
        "The key of {program} may not call {endpoint}",
        "The service said: {error} What needs this call waits or expires, and what it would tell is not seen, until"
        " the key has the scope. Everything else goes on, and a freeze is tried all the same. Ask the service to add"
        " it.",
    ),
    endings=over(
        "The key of {program} has the scope that was missing",
        "It was missing for {lasted}. What was not seen meanwhile is read now.",
    ),
    runbook="poller_silent-scope",
)

KEY_TROUBLE = AlertKind(
    name="key_trouble",
    raised_when="the API does not take the program's key; nothing is sent meanwhile",
    found_by="execution, poller",
    ends="a key works",
    wordings=one(
        Severity.CRITICAL,
        "Sending to {program} is paused",
        "{cause} Nothing is sent until it works again; approved requests wait or expire. Set a working key with"
        " `countersign keys set {program}`, or ask the service.",
    ),
    endings={
        "": Ending(
            "The key of {program} works again",
            "Nothing was sent for {lasted}. Approved requests that are still valid are sent now.",
        ),
        "paused": Ending(
            "The key of {program} works again",
            "It did not for {lasted}. Sending stays paused, as people decided.",
        ),
        "other account": Ending(
            "The key of {program} works, and is of another account",
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
        "Ids and requests of two accounts must not mix, so nothing is sent or looked up until the key is of the account"
        " that it was of before. Set that key with `countersign keys set {program}` and restart; give another account a"
        " program name of its own.",
    ),
    endings={
        "": Ending(
            "The key of {program} is of the known account again",
            "Sending was paused for {lasted}, and goes on.",
        ),
        "paused": Ending(
            "The key of {program} is of the known account again",
            "It was not for {lasted}. Sending stays paused, as people decided.",
        ),
    },
    is_mutable=False,
    condition_name="account",
)


def poller_silent(program: str, *, last_read_at: datetime | None, error: str | None) -> Said:
    """`last_read_at`: None where it was never read. `error`: what the last try said; None where it only took long."""
    since = f"since {last_read_at:%Y-%m-%d %H:%M} UTC" if last_read_at else "yet"
    said = "it did not answer in time" if error is None else error
    return POLLER_SILENT.says(program=program, since=since, error=said)


def key_trouble(program: str) -> Said:
    """The API does not take the program's key."""
    return KEY_TROUBLE.says(program=program, cause=MESSAGES["UNAUTHORIZED"].happened)
