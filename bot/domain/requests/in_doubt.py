"""What is said of a request that was open in an older copy of the database and ends unsent here.

What was done after the copy is not known: it may have been carried out, so nobody reads that nothing was sent.
"""

from __future__ import annotations

import re

from bot.domain.requests.lifecycle import UNSENT, Request

# It is true of what is on record alone.
_OF_SENDING = re.compile(r"\s*Nothing was sent\b[^.]*\.(?: You can request it again\.)?")
_MAY_BE_DONE = "may have been carried out"
IN_DOUBT = (
    f"An older copy of the database was put in place while this waited, so it {_MAY_BE_DONE} before that."
    " Check the card and the ledger before you request it again."
)


def is_in_doubt(request: Request) -> bool:
    """It was not sent by what is on record, and may have been all the same."""
    return request.state in UNSENT and request.outcome_unknown


def said_in_doubt(request: Request, text: str) -> str:
    """The same text, without what is not known of this request."""
    if not is_in_doubt(request) or _MAY_BE_DONE in text:
        return text
    return f"{_OF_SENDING.sub('', text)} {IN_DOUBT}".strip()
