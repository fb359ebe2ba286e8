"""What is said of a request that ends unsent here, and was open in an older copy of the database or paid elsewhere.

What was done after the copy is not known: it may have been carried out, so nobody reads that nothing was sent.
"""

from __future__ import annotations

import re
from decimal import Decimal

from bot.domain.money import format_usd
from bot.domain.requests.lifecycle import UNSENT, Request

# It is true of what is on record alone.
_OF_SENDING = re.compile(r"\s*Nothing was sent\b[^.]*\.(?: You can request it again\.)?")
_MAY_BE_DONE = "may have been carried out"
IN_DOUBT = (
    f"While this waited an older copy of the database was put in place, or another copy was used, so it {_MAY_BE_DONE}."
    " Check the card and the ledger before you request it again."
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


def said_debited(request: Request, usd: Decimal) -> str:
    """What became of it, and that the ledger has something under its key all the same: `usd` is what left the float."""
    found = f"{format_usd(usd)} left the float" if usd > 0 else "Your card provider carried something out"
    return (
        f"{_OF_SENDING.sub('', request.outcome_text)} {found} under its key all the same, and"
        " Countersign sent nothing for it from this database. Ask your card provider about it before you request it"
        " again."
    ).strip()
