"""What is said of a request that ends unsent here, and was open in an older copy of the database or paid elsewhere.

What was done after the copy is not known: it may have been carried out, so nobody reads that nothing was sent. The same
after a start that could not look yet whether the database is such a copy.
"""

from __future__ import annotations

import re
from decimal import Decimal

from bot.domain.money import format_usd
from bot.domain.requests.lifecycle import SENT, TERMINAL, UNSENT, Request

_UNSENT_ENDS = TERMINAL - SENT
# It is true of what is on record alone.
_OF_SENDING = re.compile(r"\s*Nothing was sent\b[^.]*\.(?: You can request it again\.)?")
_NOT_FROM_HERE = "It was not sent from this database."
# The same of what was called and refused each time.
_OF_CARRYING_OUT = re.compile(
    r"\s*(?:It was not carried out\.|Your card provider had not carried it out, and it is not sent again\.)"
    r"(?: Make a new request if it is still wanted\.)?"
)
_NOT_DONE_FROM_HERE = "It was not carried out from this database."
_MAY_BE_DONE = "may have been carried out"
IN_DOUBT = (
    f"While this waited an older copy of the database was put in place, or another copy was used, so it {_MAY_BE_DONE}."
    " Check the card and the ledger before you request it again."
)


ROWS_IN_DOUBT = (
    "It is not known whether another copy of the database sent the rest. Check the ledger before you request it"
    " again."
)

#: In the outcome of a request that ended unsent here: what left the float under its key all the same, in USD.
DEBITED = "debited_usd"


def is_in_doubt(request: Request) -> bool:
    """It was not sent by what is on record, and may have been all the same."""
    return request.state in UNSENT and request.outcome_unknown


def said_in_doubt(request: Request, text: str) -> str:
    """The same text, without what is not known of this request."""
    if not is_in_doubt(request) or _MAY_BE_DONE in text:
        return text
    return f"{_OF_SENDING.sub('', text)} {IN_DOUBT}".strip()


def said_unread(text: str, what: str, *, was_called: bool = False) -> str:
    """The same text, without what nobody knows while `what` (its ledger, …) was not read since a start. `was_called`:
    it was sent from here, and refused each time."""
    here = _NOT_DONE_FROM_HERE if was_called else _NOT_FROM_HERE
    if here in text:
        return text
    known = (_OF_CARRYING_OUT if was_called else _OF_SENDING).sub("", text)
    return (
        f"{known} {here} Since Countersign started it could not read {what}, so it does not know whether another copy"
        " of the database sent it. Check the card and the ledger before you request it again."
    ).strip()


def says_nothing_was_sent(text: str) -> bool:
    """Is that said in the outcome of a request?"""
    return _OF_SENDING.search(text) is not None


def ended_line(request: Request) -> str:
    """What the thread says of a request that ended unsent here, and that nobody knows to be unsent; else empty."""
    if request.state not in _UNSENT_ENDS:
        return ""
    if request.outcome_unknown:
        return "ended_in_doubt"
    is_unread = any(words in request.outcome_text for words in (_NOT_FROM_HERE, ROWS_IN_DOUBT))
    return "ended_unread" if is_unread else ""


def said_debited(request: Request, usd: Decimal) -> str:
    """What became of it, and that the ledger has something under its key all the same: `usd` is what left the float."""
    found = f"{format_usd(usd)} left the float" if usd > 0 else "Your card provider carried something out"
    return (
        f"{_OF_SENDING.sub('', request.outcome_text)} {found} under its key all the same, and"
        " Countersign sent nothing for it from this database. Ask your card provider about it before you request it"
        " again."
    ).strip()
