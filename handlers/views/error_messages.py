"""What went wrong, in the words a person reads: what happened, whether money moved, what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.domain.error_messages import MESSAGES, NO_ANSWER
from bot.domain.errors import (
    AlreadyDecided,
    CountersignError,
    Expired,
    InvalidFields,
    InvalidInput,
    LookupFailed,
    NotAllowed,
    NotFound,
    NotPosted,
    OverLimit,
    PasskeyNeeded,
    Paused,
    Stale,
    TooMuch,
)
from bot.partner.errors import LedgerMoving, NotConnected, NotSent, PartnerError

# Their text is written for the person who reads it. Any other CountersignError is ours to fix.
_SAID_AS_THEY_ARE: Final = (
    AlreadyDecided,
    Expired,
    InvalidFields,
    InvalidInput,
    LookupFailed,
    NotAllowed,
    NotFound,
    NotPosted,
    OverLimit,
    PasskeyNeeded,
    Paused,
    Stale,
    TooMuch,
)

#: By the error code of Slack's.
SLACK_SAID: Final[Mapping[str, str]] = {
    "expired_trigger_id": "Slack gives three seconds to open a window, and it took longer. Press or type it again.",
    "exchanged_trigger_id": "This was opened already. Close that window, or press or type it again.",
    "invalid_trigger_id": "Slack no longer knows this click. Press or type it again.",
    "not_in_channel": "Countersign is not in this channel. Invite it with /invite @Countersign, then share again.",
    "channel_not_found": "Countersign does not see this channel. Invite it with /invite @Countersign.",
    "is_archived": "This channel is archived, so nothing can be posted in it.",
    "ratelimited": "Slack takes no more right now. Wait a minute.",
    "missing_scope": "The Slack app lacks a permission for this. Tell an admin: the app's manifest and its"
    " installation differ.",
}
_NOTHING: Final = "Nothing was recorded or sent."
_LOOK_FIRST: Final = "If you were submitting or deciding, look at /requests before you do it again."


def is_said(error: BaseException) -> bool:
    """Is its text for the person, with nothing for us to fix?"""
    return isinstance(error, (*_SAID_AS_THEY_ARE, PartnerError))


def explain_database(reference: str) -> str:
    """While the database is full, locked, read-only or away."""
    return (
        "Countersign cannot use its database right now, and nothing is sent to your card provider. Try again in a"
        f" minute; the alerts channel says what is wrong if it lasts. {_LOOK_FIRST} Tell an admin the reference"
        f" {reference}."
    )


def explain_end_of_log(reference: str) -> str:
    """While the row of the database that says where the audit log ends is lost: nothing can be recorded, so nothing is
    done."""
    return (
        "Somebody changed the database outside Countersign: where the audit log ends is lost, so nothing can be"
        " recorded. Nothing was requested, approved or sent to your card provider. Countersign writes it again within a"
        f" minute and says so in the alerts channel. Then do this again. Tell an admin the reference {reference}."
    )


def explain_held(held: str, why: str, reference: str) -> str:
    """Of what stops something and could not be recorded: `held` says what is held meanwhile, `why` what is known of the
    cause."""
    because = f" {why}" if why else ""
    return f"{held}{because} Tell an admin the reference {reference}."


def explain_stored(error: CountersignError, reference: str) -> str:
    """Where what is stored isn't as Countersign left it. The text of `error` says what, such as which entry of the
    audit log."""
    return f"{error} {_LOOK_FIRST} Tell an admin the reference {reference}."


def explain(error: BaseException, reference: str = "") -> str:
    """The sentence for any error. `reference` is what the log has, shown where only the log can help."""
    if isinstance(error, _SAID_AS_THEY_ARE):
        return str(error)
    if isinstance(error, PartnerError):
        return _of_the_api(error)
    asked = f" Tell an admin the reference {reference}." if reference else ""
    what = (
        "Countersign could not use its database."
        if isinstance(error, CountersignError)
        else "Something went wrong."
    )
    return f"{what} {_LOOK_FIRST}{asked}"


def _of_the_api(error: PartnerError) -> str:
    """What a look-up got for an answer. Looking moves nothing, whatever is answered."""
    if isinstance(error, NotSent):
        return f"This cannot be asked of your card provider: {error.message} {_NOTHING}"
    if isinstance(error, NotConnected):
        return f"Your card provider cannot be reached just now. {_NOTHING} Ask again in a minute."
    if isinstance(error, LedgerMoving):
        return f"The ledger kept changing while it was read. {_NOTHING} Ask again in a few seconds."
    known = MESSAGES.get(error.code or "")
    if known is None:
        return f"{NO_ANSWER} {_NOTHING} Ask again in a minute."
    return f"{known.happened} {known.next_step} {_NOTHING}"


def explain_slack(code: str, reference: str = "") -> str:
    """The sentence for an error code of Slack's. It may have been the answer alone that Slack did not take."""
    asked = f" Tell an admin the reference {reference}." if reference else ""
    return SLACK_SAID.get(code, f"Slack did not take this ({code}). {_LOOK_FIRST}{asked}")
