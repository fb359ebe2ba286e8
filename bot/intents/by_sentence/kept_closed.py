"""What keeps a form closed whoever read it: one of several is meant, it is not permitted, or a request is to be taken back."""

from __future__ import annotations

import re
from typing import Final

_SOME: Final = (
    r"(?:any ?one|one|any|either|some|each|two|three|four|half|a couple|a few|several|which(?:ever)?|another)"
)
#: `one of the marketing cards`: no card in particular, though a name stands in it.
_ONE_OF: Final = re.compile(
    rf"(?<!done )(?<!made )(?<!did )(?<!tried )\b{_SOME}(?: or (?:other|another|two))? (?:out )?of (?:the |our |my |those |these |his |her |their |all )*(?:§c\d+§(?:['’]s)? )?(?:[a-z-]+ ){{0,2}}?"
    r"(?:cards|plastics|ones|drivers|people|boys|girls|guys|lads|accounts|holders|cardholders|colleagues|employees|team|them|those|these|two|three|four|five)\b"
    rf"|\b{_SOME}(?: or (?:other|another|two))? (?:out )?of (?:the |our |my |those |these |his |her |their |all )*§c\d+§(?! (?:paid|payments?|purchases?))"
    r"|\b(?:any|some|either|another|whichever) §c\d+§(?:['’]s)? cards?\b|(?<!this )(?<!that )(?<!the )\bone §c\d+§"
)
_PERMITS: Final = r"(?:permit\w*|allow\w*|authori[sz]\w*|consent\w*|admit\w*|tolerat\w*|agree\w*|approv\w*|accept\w*|foresee\w*|provide for|let (?:me|us|him|her|them|it))"
_NOT: Final = r"(?:do(?:es)? not|did not|will not|would not|can ?not|could not|may not|must not|is not|are not|(?:do|does|did|wo|would|ca|could|is|are)n['’]?t|never|no longer|hardly)"
_WHO_PERMITS: Final = (
    r"(?:polic(?:y|ies)|rules?|rulebook|regulations?|regolamento|procedures?|guidelines?|budget|compliance|law|statutes?|contract|terms|audit(?:ors?)?"
    r"|management|board|direction|directors?|boss|manager|cfo|ceo|controller|finance|head office|headquarters|treasury|owner|chief|principal)"
)
#: `but the policy does not permit it`, `the rules forbid that`, `it is against policy`.
_FORBIDDEN: Final = re.compile(
    rf"\b{_WHO_PERMITS}(?: [a-z]+)? {_NOT} (?:[a-z]+ )?{_PERMITS}\b"
    rf"|\b{_WHO_PERMITS}(?: [a-z]+)? (?:forbids?|forbade|prohibits?|excludes?|prevents?|blocks|bars|rules out|say(?:s)? no|said no|is against|are against|vetoe[sd])\b"
    rf"|\b(?:against|outside|beyond|contrary to|in breach of|violat\w+|break\w* ) ?(?:the |our |company |all )*{_WHO_PERMITS}\b"
    r"|\b(?:it|this|that|i|we) (?:(?:is|are|am|was|were) not|(?:is|are|was|were)n['’]t|ain['’]t) (?:[a-z]+ )?(?:permitted|allowed|authori[sz]ed|entitled)\b"
    rf"|\b(?:but|only that|though|however|unfortunately|alas|sadly)\b[^.;!?\n]{{0,40}}\b{_NOT} (?:[a-z]+ )?{_PERMITS} (?:it|this|that|so much|me|us)\b"
)
_A_REQUEST: Final = r"(?:request|application|demand|order|instruction|submission|ticket|top[ -]?up|topup|recharge|load|unload|withdrawal|freeze|unfreeze|block|limit change|closure|question)"
_TAKES_BACK: Final = r"(?:retire|annul|withdraw|retract|cancel|take back|revoke|pull(?: back)?|scrap|bin|kill|drop|delete|remove|call off|close|terminate|end|abort|recall|rescind|void|undo|reverse|eliminate|suppress)"
#: `retire the request i have just made for §c0§`: not the card is to be retired.
_TAKES_A_REQUEST_BACK: Final = re.compile(
    rf"\b{_TAKES_BACK} (?:my|the|that|this|our|his|her|last|the last|my last) (?:(?:last|latest|previous|earlier|recent|pending|open|wrong|same|first|other|§[ac]\d+§(?:['’]s)?|[a-z]+) ){{0,2}}?{_A_REQUEST}\b"
    rf"|\b{_A_REQUEST} (?:that |which )?(?:i|we)(?:['’]ve| have)? (?:just |only |also )*(?:made|filed|sent|raised|put in|presented|submitted|entered|asked|placed)\b[^.;!?\n]{{0,60}}\b(?:back|retired|annulled|withdrawn|retracted|cancell?ed|revoked|undone|retract|cancel|withdraw|undo|scrap)\b"
)
_OF_CARDS: Final = frozenset({"close_card", "freeze_card", "unload_card"})


def means_one_of_several(text: str) -> bool:
    """Is no card in particular meant by a masked text in small letters, though it may name one?"""
    return _ONE_OF.search(text) is not None


def is_forbidden(text: str) -> bool:
    """Does a masked text in small letters say that what it speaks of is not permitted?"""
    return _FORBIDDEN.search(text) is not None


def takes_a_request_back(text: str, intent: str) -> bool:
    """Is a request to be taken back in a masked text in small letters, and not something done to a card?"""
    return intent in _OF_CARDS and _TAKES_A_REQUEST_BACK.search(text) is not None


__all__ = ["is_forbidden", "means_one_of_several", "takes_a_request_back"]
