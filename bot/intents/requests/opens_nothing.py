"""Requests that are answered with a question whatever their words are, so that no words have to be weighed for them.

Where 3-D Secure codes shall go: the API knows the webhook alone. A card's number: it is never written in a conversation, but
shown to its requester by a link. Neither opens a form here; who asks reads so, and is offered what there is, by a button.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from bot.intents.model import Ask, KnownCard, Option, Reading
from bot.intents.plain_text import QUOTED
from bot.intents.readings import Context, one_card, questions, values_of
from bot.intents.recognition import Frame, spaced

if TYPE_CHECKING:
    from bot.operations import Operation

_STOP: Final = re.compile(
    r"[.!?;\n]+(?=\s|$)|\n|,\s+(?=(?:so |please |pls |kindly )*(?:move|send|set|change|switch|put|point|route|make|get) (?:it|them|that|those|hers|his|theirs)\b)"
)
#: Its writer asks for something.
_ASKS: Final = re.compile(
    r"\b(?:please|pls|plz|kindly|(?:can|could|would|will|may) (?:you|u|ya|we|i|someone|somebody|the|her|his|their|all|§c\d+§)|mind|keen|let['’]?s?|(?:i|we|he|she|they|§c\d+§)(?:['’]?d| would)? (?:need|want|like|love|request)s?|should|must|has to|have to|needs? to|wants?|asap|urgent\w*|thx|thanks|for me)\b"
    r"|^\W*(?:(?:hi|hey|hello|so|and|now|then|just|also|ok|team|bot|for §c\d+§|card|§c\d+§|action|urgent)\b[\s,:;!./-]*)*(?:need|switch|send|change|set|update|re-?route|route|re-?direct|direct|put|move|make|get|give|have|point|forward|deliver|fix|use|turn|show|reveal|unmask|unhide|uncover|open|display|tell|share|read|write|dictate|paste|provide|let|limit|cap|raise|lower|keep|hold)\b"
)
#: No finite verb: a note, which asks by itself.
_TELLS: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|will|would|went|goes|gets?|got|comes?|came|[a-z]{3,}ed)\b|['’](?:s|re|m|ll|ve|d)\b|n['’]t\b"
)
#: It is not to be done, hangs on something, or was said by somebody else.
_NOT_ASKED: Final = re.compile(
    r"\b(?:(?:do|does|should|must|shall)(?: not|n['’]?t)|dont|never|no need|nobody (?:should|must|may)|not yet|if|unless|once|whether|should (?:we|i)|shall (?:we|i)|what if|maybe|perhaps|imagine|suppose|would have|instead of asking|told (?:me|us|him|her)|asked (?:me|us|him|her)|said|says|wrote|ask (?!for\b)[a-z]+|thought about|how (?:do|does|can|would|to))\b"
    r"|^\W*(?:(?:hi|hey|hello|so|and|ok)\b[\s,]*)*(?:where|what|which|who|why|when|how|is|are|was|were|does|do|did|has|have(?! (?:the|her|his|all|codes))|am)\b"
)
_CODES: Final = re.compile(
    r"\b(?:threeds|otps?|(?:purchase|payment|security|verification|confirmation|online|one[- ]time|shopping|shop|bank|sms|approval|authenti\w+|secure|check-?out|login|pass)[\w -]{0,16}? ?codes?|passcodes?|codes)\b"
)
_ROUTED: Final = re.compile(
    r"\b(?:go(?:es|ing)?|sen[dt]|sending|comes?|coming|land\w*|arrive\w*|deliver\w*|re-?direct\w*|re-?rout\w*|rout\w+|switch\w*|chang\w*|mov(?:e|ed|ing)|sets?|setting|updat\w*|forward\w*|point\w*|receiv\w*|get|put|use|sort\w*|fix\w*)\b"
)
_MEANS: Final = r"(?:e-?mails?|mails?|mailbox|inbox|sms|texts?|text messages?|phone|mobile|cell|cellphone|handset|telegram|whatsapp|signal|viber|teams|slack|(?:an |the )?app|push|call|number|him|her|them|me|us|someone|somebody|her|his|(?!freeze|close)[a-z]+['’]s)"
_WHERE: Final = re.compile(
    rf"\b(?:where|some ?where|anywhere|elsewhere|destination|place|spot|channel|delivery|delivered|setting|method|re-?direct\w*|re-?rout\w*|(?:to|by|via|over|on|in|into|through|per|with|as) (?:an? |the |her |his |their |my |our |own |plain |work |company |private |new |good )*{_MEANS})\b|(?:->|→|=>|>)\s*{_MEANS}\b"
)
_POINTS: Final = re.compile(r"\b(?:them|it|that|this|those|these|they|hers|his|theirs)\b")
_NUMBER: Final = re.compile(
    r"\b(?:full|whole|complete|entire|long)(?: (?:the|of|16|sixteen|§[xa]\d+§|card|credit|prepaid|\w+-digit))* (?:numbers?|digits|no|pan)\b|\b(?:all |the |of |those )*(?:16|sixteen|§[xa]\d+§)[- ](?:long )?digits?\b|\ball (?:the |of the |of |her |his )*digits\b|\bcard numbers?\b|\bpan\b|\b(?:numbers?|digits) in (?:full|whole)\b"
    r"|\b(?:reveal|unmask|unhide|uncover|disclose|display)\w*\b(?: \S+){0,5}? (?:numbers?|digits)\b"
)
#: Other numbers, which no link shows.
_OTHER_NUMBER: Final = re.compile(
    r"\b(?:cvv|cvc|cv2|pin|security (?:code|number)|expir\w*|exp|validity|valid (?:thru|until)|three (?:little )?digits|3[- ]digits?|(?:digits?|numbers?|code) (?:on|at|off|from|behind)(?: the)? (?:back|behind)|last (?:four|4)(?=[^,.;]*(?:of|for) §c)|phone number|mobile number)\b"
)


def read_what_opens_nothing(context: Context, kinds: Mapping[str, type[Operation]]) -> Reading | None:
    """The question about one card's codes or number; None where neither is asked for, or more is said than that."""
    text = spaced(context.found.masked)
    if context.doubts or QUOTED in text or context.found.inside(text, "phone", "tx_hash", "email"):
        return None
    written, card = one_card(context)
    if not written or card is None:
        return None
    sentences = list(_sentences(text))
    if _CODES.search(text):
        return _codes(
            [one for one in sentences if not context.found.inside(one, "amount", "rate")], written, card
        )
    single = _single_purchase(sentences, written, card, context) if _FOR_ONE.search(text) else None
    if single is not None:
        return single
    kind = next((name for name, operation in kinds.items() if operation.intent == "reveal_card"), "")
    if kind and _NUMBER.search(text) and not _OTHER_NUMBER.search(text):
        return _number(sentences, written, card, kind)
    return None


def _sentences(text: str) -> Iterator[str]:
    return (piece.strip() for piece in _STOP.split(text) if piece.strip())


def _is_asked(sentence: str) -> bool:
    if _NOT_ASKED.search(sentence):
        return False
    return _ASKS.search(sentence) is not None or not _TELLS.search(sentence)


def _codes(sentences: list[str], written: str, card: KnownCard) -> Reading | None:
    named = False
    for sentence in sentences:
        named = named or _CODES.search(sentence) is not None
        about = _CODES.search(sentence) or (named and _POINTS.search(sentence))
        if about and _WHERE.search(sentence) and _is_asked(sentence):
            break
        if named and _POINTS.search(sentence) and _ROUTED.search(sentence) and _is_asked(sentence):
            break
    else:
        return None
    if not any(_WHERE.search(one) for one in sentences):
        return None
    said = questions.said_of("set_3ds", {"card": written})
    why = "The API takes only the webhook mode: codes go to no phone, mailbox or app instead. Set it to webhook?"
    ask = Ask("intent", why, (Option(said, said[:1].upper() + said[1:]),))
    return Reading("set_3ds", {"card": written}, ask=ask, card=card)


#: A limit for one purchase, which the API does not have.
_FOR_ONE: Final = re.compile(
    r"\b(?:per|a|one|each|every|single|any)[ -](?:single )?(?:purchase|payment|transaction|swipe|go|pop)\b"
)
_BOUND: Final = re.compile(
    r"\b(?:should|must|may|can|shall)(?: not|n['’]?t|not) (?:be (?:able|allowed) to )?(?:be (?:bigger|higher|larger|more)|spend|exceed|pass|go(?: over)?|pay|use)\b|\bnobody (?:should|may|must) (?:spend|pay)\b"
)


def _single_purchase(sentences: list[str], written: str, card: KnownCard, context: Context) -> Reading | None:
    """The limits that one sentence asks for, that of a single purchase among them: which other one is asked back."""
    for sentence in sentences:
        asked = _BOUND.sub("please limit to", sentence)
        if not _FOR_ONE.search(sentence) or not _ASKS.search(asked) or _NOT_ASKED.search(asked):
            continue
        values = values_of(Frame("set_limits", sentence), sentence, context.found)
        if values.doubt is not None and "per_transaction" in values.slots.get("limits", {}):
            return Reading("set_limits", {"card": written, **values.slots}, ask=values.doubt, card=card)
    return None


def _number(sentences: list[str], written: str, card: KnownCard, kind: str) -> Reading | None:
    if not any(_is_asked(one) and (_NUMBER.search(one) or _POINTS.search(one)) for one in sentences):
        return None
    why = (
        "A card number is not offered in conversation: it is shown to you alone, by a link that works once, when that is"
        " approved. Ask for it?"
    )
    ask = Ask("intent", why, (Option(f"reveal {written}", f"Reveal {written}"),))
    return Reading("reveal_card", {"card": written}, ask=ask, card=card, kind=kind)


__all__ = ["read_what_opens_nothing"]
