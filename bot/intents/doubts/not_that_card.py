"""Whether a message that names a card means another one: all but that one, what its holder's husband has, a gift card.

Read in the text of `as_said`, in small letters, whoever read the request.
"""

from __future__ import annotations

import re
from typing import Final

_ALL: Final = (
    r"(?:every(?:one|body|thing)?|any(?:one|body|thing)?|all|each|the (?:rest|others?|remaining|whole lot|lot)|whole|remaining"
    r"|no(?:body|thing| one))"
)
_BUT: Final = r"(?:but(?: for)?|except\w*|excluding|excl\.?|without|besides|other than|apart from|aside from|save(?: for)?|bar|barring|minus|not|than|leave|keep)"
#: `everyone but §c0§`, `all the cards but leave §c0§`: the one that is named is the one that is not meant.
_EXCEPTED: Final = re.compile(
    rf"\b{_ALL}\b[^.;!?\n]{{0,30}}?\b{_BUT} (?:the |card |for |of |from |out )*§c\d+§"
    r"|\bother than (?:the |card |for )*§c\d+§"
    r"|\b(?:freeze|unfreeze|block|unblock|lock|unlock|close|stop|pause|suspend|top up|topup|load|unload|fund|refill|credit|limit|cap|kill|terminate|cancel|reactivate)"
    r" (?:all of |all )?(?:every(?:one|body|thing)|the (?:rest|others?|other cards?)|all(?: the| our| my)? (?:the )?(?:other )?(?:cards|others)|(?:all|every) but)\b"
)
_PERSON: Final = (
    r"(?:husband|wife|partner|spouse|boss|manager|supervisor|assistant|pa|secretary|deputy|colleague|co-?worker|team|crew|intern|trainee|employee|employer"
    r"|company|bank|merchant|client|customer|supplier|landlord|guest|driver|daughter|son|kid|child|children|mother|mum|mom|father|dad|parents?|brother|sister"
    r"|sibling|cousin|uncle|aunt|nephew|niece|family|neighbou?r|room-?mate|flat-?mate|friend|girlfriend|boyfriend|fianc[eé]e?|ex|replacement|successor|predecessor"
    r"|twin|stand-in|substitute|backup)"
)
#: What tells no card of a holder from another one: every card of ours is so, or the one that is spoken of.
EVERY_CARD: Final = r"(?:company|prepaid|work|own|corporate|business|office|virtual|physical|plastic|complete|full|frozen|blocked|locked|lost|stolen|missing|damaged|broken|poor|dear|damn|bloody|entire|whole|payment|pay|madam['’]?s?|sir['’]?s?|credit|debit|bank|expenses?|team|actual)"
_WHICH: Final = rf"(?!{EVERY_CARD}\b)[a-z0-9][\w'’&-]*"
#: Words that begin something else behind a holder's name: `§c0§ needs a card`, `§c0§ lost his card`.
_NO_ADJECTIVE: Final = r"(?:\w+s|has|had|have|her|his|their|the|a|an|this|that|its|our|my|new|one|got|lost|found|left|forgot|gave|broke|dropped|in|on|to|for|with|by|at|and|is|was|view|see|\w+ed)"
_NOT_ITS: Final = re.compile(
    rf"§c\d+§(?:'s?)? (?:(?:own|old|new|late|young\w*|little|best) )?{_PERSON}(?:'?s)?\b(?! (?:visit|visits|dinner|lunch|trip|party|event|offsite|travel|budget|needs|is|are|was|has|had|will|can|lost|got|says|said))"
    rf"|§c\d+§'s? (?:{_WHICH} ){{1,2}}(?:cards?|plastic)\b|§c\d+§ (?!{_NO_ADJECTIVE}\b)(?:{_WHICH} )(?:cards?|plastic)\b"
    r"|§c\d+§'s? (?:laptop|computer|salary|pay|pay raise|wages|bonus|phone|iphone|mobile|number|account at|car|password|login|order|merchant|subscription)\b(?! (?:on|for|to|is|has|number|should|→|->|=|:|needs|has|changed|§))(?!.*§t\d+§)"
    # `top up §c0§'s oyster by 50`
    rf"|\b(?:top(?:ping)?[ -]?up|topup|(?:re|un)?load|refill|recharge|fund|credit|unload|freeze|block|close) (?:the )?§c\d+§'s (?!(?:{EVERY_CARD} (?:{EVERY_CARD} )?(?:cards?|plastic|account)|cards?|account\W*$|account (?:by|with|for|at|please|pls|from)\b|plastic|one|balance|limits?|daily|weekly|monthly|please|pls|asap|by|with|to|for|now|wallet)\b)\w"
    rf"|\bthe (?:new |old )?{_PERSON} of (?:the )?§c\d+§"
)
#: A card named by another one.
_BY_ANOTHER: Final = re.compile(
    r"\b(?:cards?|one|plastic) (?:that |which )?(?:(?:was |were |is |are |got |has |had )?(?:replac\w+|ordered|issued|linked|paired|like|unlike|under|above|below|before|after|behind"
    r"|next to|near|similar|closest|older|newer)) ?(?:with|to|by|than|as|for)? ?(?:the |card )*§c\d+§"
    r"|\bwho(?:so|m)?(?:ever)? (?:(?:has|had|have) )?(?:used|uses|stole|found|took|cloned|hacked|abused|spent|paid)\b(?: with| on)? §c\d+§"
    r"|§c\d+§'s? (?:neighbou?r|twin|sibling|brother|sister|successor|predecessor|copy|clone|backup)\b"
)
#: There it is the money: `unload everything from §c0§`.
_ALL_OF_IT: Final = re.compile(r"\bunload everything (?=(?:from|off|on|out of|that|which|there) )")
#: More than the one that is named.
_AND_OTHERS: Final = re.compile(
    r"§c\d+§[^.;!?\n§]{0,12}?(?:\b(?<!once )(?:and|along with|together with|including|incl\.?|as well as|plus)|&|\+) (?:the |its |all |all the |his |her |their |my |our |for |any )*"
    r"(?:co|others?|other cards|friends|rest|so on|so forth|backup|spare|twin|copies|everyone|everybody|everything|all)\b(?! (?:clear|good|is|was|the best))"
    r"|§c\d+§,? (?:et al|etc|et cetera|& co)\b|(?<!once )\b(?:and|&) for (?:all|everyone|the others)\b"
)
#: Whom a new card is not for: the one who is named is only related to the one who gets it.
_NOT_THE_HOLDER: Final = re.compile(
    rf"\bcards? for (?:the |an? |his |her )?{_PERSON} of\b|\bcards? for [\w'’ -]{{2,40}}?['’]s? {_PERSON}\b(?!,? [a-z]+ [a-z]+,)"
    rf"|\b(?:an?|one|order|issue|get|need|create|want|make) (?:[a-z-]+ ){{0,2}}?(?!(?:{EVERY_CARD}|an?|the|one|new|fresh|brand-?new|more|another|additional|further|extra|him|her|me|us|them|for|his|their|its|our|order|issue|get|need|create|want|make|please|those|these)\b)[\w'-]+ cards?\b"
    rf"|^\W*(?!(?:{EVERY_CARD}|new|the|an?|his|her|our|order|issue|get|need|create|want|make|please|one|my|for)\b)[\w'-]+ cards? for\b"
)

#: `the old card of Nora`; what is named by its digits or its reference is that one, whatever else is said of it.
_OLD_ONE: Final = re.compile(
    rf"\b(?:the|that|this|an?) (?!(?:{EVERY_CARD}|mr|mrs|ms|dr|one|same|said|holder|the|most|on|of|for|from|to|off|with|in|and|so|but|that|which|upon|regarding|onto|by|at|card|below|following|above)\b)[a-z-]+ §c\d+§"
)

#: A card to be ordered: its first load or its phone are no other card's.
_NEW_CARD: Final = re.compile(
    r"\breplacement (?:card )?for §c|\bnew card (?:pls|please|for)\b|\b(?:needs?|wants?|order\w*) an? (?:second|new|another|replacement) card\b"
)
_FOR_A_CARD: Final = frozenset({"topup_card", "unload_card", "change_phone"})
_CARDS: Final = re.compile(r"§c\d+§")


def may_mean_another_card(text: str, intent: str, card: str) -> bool:
    """May a request that names one card as `card`, or the holder of a new one, be for another one?"""
    if intent == "order_card":
        return _NOT_THE_HOLDER.search(text) is not None
    if not card:
        return False
    if intent in _FOR_A_CARD and _NEW_CARD.search(text):
        return True
    if not re.search(r"\d", card) and _OLD_ONE.search(text):
        return True
    if intent == "unload_card":
        text = _ALL_OF_IT.sub("unload it ", text)
    # Whose husband it was may be named beside the card.
    named = (_NOT_ITS,) if len(_CARDS.findall(text)) == 1 else ()
    return any(pattern.search(text) for pattern in (*named, _EXCEPTED, _BY_ANOTHER, _AND_OTHERS))


__all__ = ["EVERY_CARD", "may_mean_another_card"]
