"""Two requests that open no form by their own words: taking back one's last request, and stopping all sending.

Patterns over a masked clause. What follows is a button in either case: nothing is cancelled or paused by a text.
"""

from __future__ import annotations

import re
from typing import Final

_BEFORE: Final = (
    r"^(?:(?:oh|oops|ups|sorry|wait|hmm+|hm|argh|damn|no|ok|okay|actually|quick|quickly|please|pls|and|then|now|my"
    r" mistake"
    r"|my bad|i made a mistake|that was (?:wrong|a mistake)|wrong (?:card|one|amount))[\s,:!-]+)*"
)
_LED_BY: Final = re.compile(_BEFORE)
_AFTER: Final = (
    r"(?:[\s,]+(?:please|pls|plz|again|now|right now|quickly|asap|at once|immediately|thanks|thx|for me|the (?:whole )?lot|for now|for the moment|until further notice|then))*"
    r"[\s!.]*$"
)
_THING: Final = (
    r"(?:request|change|action|order|top[ -]?up|load|unload|withdrawal|freeze|unfreeze|block|hold|limits?(?: change)?"
    r"|thing|one|step|move|operation)"
)
_BACK: Final = r"(?:undo|revert|reverse|roll ?back|take back|cancel|withdraw|retract|pull back|recall)"
_LAST: Final = r"(?:very )?(?:last|latest|previous|most recent|newest)"
_R: Final = r"§r\d+§"
_C: Final = r"§c\d+§"
_UNDO: Final = re.compile(
    _BEFORE
    + rf"(?:(?:{_BACK}|pull|scrap|bin|drop|kill|call off) (?:my|the|that|our) {_LAST} {_THING}(?: (?:on|for|of|from|to|about) (?:the )?(?:card of )?{_C}(?: card)?)?"
    rf"|(?:arrange|see to it|ensure|make sure)(?: it)? that (?:my|our) {_LAST} {_THING}(?: (?:on|for|of|from|to|about) (?:the )?(?:card (?:of )?)?{_C}(?: card)?)? (?:is|gets|be) (?:withdrawn|cancell?ed|undone|reversed|taken back|retracted|revoked|recalled)"
    r"|(?:undo|revert|roll ?back)(?: (?:that|it|this|what i (?:just )?did(?: last)?))?(?: one)?"
    rf"|undo (?:my |the |that )?(?:{_LAST} )?{_THING}(?: (?:on|for|of|from|to|about))? {_C}"
    rf"|undo (?:my |the |that )?(?:{_LAST} )?{_THING}"
    r"|take (?:that|it|this) back|take back (?:that|it|this|what i (?:just )?(?:did|asked|requested)(?: for)?)"
    rf"|{_BACK} what i (?:just )?(?:did|asked|requested)(?: for)?"
    rf"|{_BACK} (?:my|that|the) request|(?:cancel|withdraw|retract) my {_THING}"
    rf"|{_BACK} (?:my |the )?(?:request )?{_R})" + _AFTER
)
_ALL: Final = (
    r"(?:(?:all|every|any)(?: (?:the|our|single))?(?: outgoing)? (?:payments?|payouts?|out-?flows?|outgoings|transfers?|money|cash|funds)(?: (?:going |that goes )?(?:out|(?:out of|from|leaving) (?:the |our )?(?:float|pot|account|company|pool)))?"
    r"|(?:every|each)(?: single)? outgoing \w+|(?:all|everything) outgoing|everything|(?:to )?all (?:of )?(?:the |our )?(?:sendings?|sends|payments|outgoing \w+|operations|requests|transfers"
    r"|calls"
    r"|writes|activity)|(?:all |any |every )?(?:the )?sending(?: (?:out|to) [^§]*)?|(?:the )?outgoing \w+"
    r"|whatever is being sent|what(?:ever)? (?:is|'s) going out|everything (?:that is|that's) (?:being sent|going out)"
    r"|(?:the )?(?:program|programme|bot|provider calls))"
)
_PAUSE: Final = re.compile(
    _BEFORE
    + rf"(?:(?:pause|stop|halt|suspend|freeze|hold|kill) (?:down )?{_ALL}|put {_ALL} on (?:hold|pause|ice)|(?:hit|pull|press|use) (?:the )?(?:kill switch"
    rf"|emergency"
    r" (?:stop|brake)|big red button)|emergency stop"
    r"|(?:arrange|see to it|ensure|make sure)(?: it)? that (?:nothing(?: more| else| further)?|no (?:more )?(?:money|payments?|funds|transfers?)) (?:is|gets|goes|leaves|are|go)(?: (?:sent|paid|moved|transferred))?(?: out)?(?: from (?:our|your) (?:side|end))?"
    r"(?:,? (?:until further notice|for now|for the moment|for the time being))?)" + _AFTER
)
_UNDO_WORDS: Final = re.compile(
    rf"\b(?:{_BACK}|take (?=(?:that|it|this) back)|(?<=is |be )(?:withdrawn|taken back)|(?<=gets )withdrawn)\b"
)
_PAUSE_WORDS: Final = re.compile(r"\b(?:stop|pause|halt|suspend|freeze)\b")


def is_undo(bare: str) -> bool:
    """Whether a clause, stripped of its lead, asks to take back a request."""
    return _UNDO.match(bare) is not None


def is_pause(bare: str) -> bool:
    """Whether a clause, stripped of its lead, asks to stop everything that is sent."""
    return _PAUSE.match(bare) is not None


def without_undo_words(text: str) -> str:
    """The clause without the words that ask to take back: `withdraw` and `cancel` name no kind of request then."""
    return _UNDO_WORDS.sub(" ", _LED_BY.sub("", text))


def without_request_words(text: str) -> str:
    """The clause without any words that ask for it: `undo`, `wait` and `stop` by themselves read like a negation."""
    return _PAUSE_WORDS.sub(" ", without_undo_words(text))
