"""Numbers that only belong to a story: how often, how many of what, which hour, which street, whose invoice.

`3 times`, `5 nights`, `8 o'clock`, `6th street`, `PO 4410`, `inc-2211`. Each is a `number` with the trait `incidental`: no value of
any form, and accounted for where it stands in a story, never in the words of the request itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.intents.extraction.entity import Entity
from bot.intents.plain_text import is_code_of_money

INCIDENTAL: Final = "incidental"
_THINGS: Final = (
    r"(?:times|x|charges|purchases|payments|transactions|swipes|taps|attempts|debits|declines|weeks|wks?|days|nights|months|years|yrs|hours|hrs|minutes|mins?|sec|seconds"
    r"|people|persons|pax|guests|visitors|passengers|kids|interns|drivers|colleagues|seats|rooms|tickets|vans?|cars|trucks|stops|sites|boxes|km|miles|confs?|confirmations?|floors?|copies|pages|litres?|liters?|gallons?|bags|pm|am|o'?clock)"
)
_COUNT: Final = re.compile(
    rf"(?<![\w.,$€£§+-])(?:\d{{1,3}}(?: ?x(?= \d))?)(?: ?(?:more|other|odd|long|full|new|different|strange|small))? ?{_THINGS}(?!\w)(?!\s*[:=]?\s*[\d$])"
    r"|\b(?:lunch|dinner|breakfast|brunch|tickets?|rooms?|seats?|a table|meals?|coffees?|drinks|snacks|catering|tea) for \d{1,2}(?![\w.,:$€£%]*\d)(?!\s*(?:k|usd|dollars|bucks|\$))"
    r"|(?<![\w.,$€£§+-])\d{1,2}(?:st|nd|rd|th)(?!\w)|(?<=the )(?-i:[A-Z])-?\d{1,3}(?![\w.,]*\d)|(?<=starts )\d{1,2}\.\d{1,2}\.(?!\d)|(?<=since )\d{1,2}\.\d{1,2}\.(?!\d)|(?<![\w.,$€£§+-])(?:at|by|for|of|around)\s+\d{1,2}:\d\d(?!\w)",
    re.IGNORECASE,
)
#: A document by its kind and number. Four digits that a card is called by were taken before.
_DOCUMENT: Final = re.compile(
    r"\b(?:po|lpo|grn|req|requisition|memo|work order|job no\.?|voucher no|delivery note|inv|invoice|inc|incident|ticket|booking|reservation|flight|train|room|gate|terminal|form|folder|batch|cost cent(?:re|er)|voucher|receipt|quote|contract)"
    r"\s?(?:no\.?|nr\.?|number|#)?\s?[-:#]?\s?(?:(?<=[\s:#.-])[a-z]{1,5}[- /]?)?\d{2,12}(?:[/-]\d{1,6})?(?![\w.,]*\d)"
    r"|\b(?:PO|INV|INC|HTL|MKT|TKT|REQ|JIRA|OPS|FIN|AP|BK)-\d{2,6}(?![\w.,]*\d)",
    re.IGNORECASE,
)
#: A place in a document, a version, a word with a digit in it: `point 4.2`, `v3`, `B2B`.
_PLACE: Final = re.compile(
    r"\b(?:point|section|clause|article|art\.?|paragraph|para|item|appendix|annex|chapter|page|step|phase|tier|grade|zone|platform|hall|pier|dock|bay|aisle|lane|version|ver\.?|rev\.?|day|week|floor|level)\s\d{1,2}(?:\.\d{1,2}){0,3}(?![\w.,:/%$€£-]*\d)(?!\s?(?:k\b|usd|dollars|bucks|percent|%|\$))"
    r"|(?<![\w.,$+-])3-?D(?![\w.,-]*\d)(?!\w)|(?<![\w.,$+-])v\d{1,2}(?:\.\d{1,2}){0,2}(?![\w.,]*\d)|(?<![\w.,$+-])[A-Za-z]\d[A-Za-z](?!\w)|(?<![\w.,$+'-])(?-i:[A-WYZ]\d{1,2})(?![\w.,-]*\d)(?!\w)|(?<![\w.,$€£+-])\d{1,2}x(?= (?!\$|\d)[a-z]|[,;)])",
    re.IGNORECASE,
)
#: A ticket of any tracker, by its key in capitals: `SEC-77`, `TRE-640`. The code of a money is no key.
_TICKET: Final = re.compile(r"(?<![\w.,$+-])(?P<key>[A-Z]{2,8})-\d{1,6}(?![\w.,-]*\d)(?!k\b)")
#: An hour without its "o'clock", where somebody goes, starts or closes then: `she's flying to Accra by 6`, `renews at 11`.
_HOUR: Final = re.compile(
    r"\b(?:renews?|starts?|opens?|closes?|begins?|leaves?|leaving|flies|flying|lands?|landing|boards?|boarding|departs?|arrives?|checks? (?:in|out)|goes live|go live|due|meeting|flight|train|pickup|interview|appointment)\b"
    r"(?:\s+[^\W\d_]+){0,4}?\s+(?P<hour>(?:at|by|before|b4|till|until|from)\s+(?:[1-9]|1[0-9]|2[0-4]))(?=\s*(?:$|[,;!?)\n]|\.(?!\d)|\s+(?:so|and|please|pls)\b))"
    r"|(?P<noon>\bb4 (?=noon|lunch|eod|the|he|she|they|it|we))",
    re.IGNORECASE,
)


def find_incidental_numbers(text: str) -> Iterator[Entity]:
    for pattern in (_DOCUMENT, _COUNT, _PLACE):
        for found in pattern.finditer(text):
            if any(char.isdigit() for char in found[0]):
                yield Entity("number", *found.span(), found[0], found[0], traits=frozenset({INCIDENTAL}))
    for found in _TICKET.finditer("" if text.isupper() else text):
        if not is_code_of_money(found["key"]):
            yield Entity("number", *found.span(), found[0], found[0], traits=frozenset({INCIDENTAL}))
    for found in _HOUR.finditer(text):
        name = "hour" if found["hour"] else "noon"
        yield Entity("number", *found.span(name), found[name], found[name], traits=frozenset({INCIDENTAL}))
