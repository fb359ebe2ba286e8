"""Times that are still to come, in words: `end of month`, `in a fortnight`, `on her first day`, `eod`.

Days and hours in figures are values, which `extraction` finds; these are the others. Nothing is done later for anyone, so
a request with one of them stays closed. The patterns are compiled when the first request is looked at.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_MONTH: Final = r"(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|aug|sept?|oct|nov|dec)"
_WEEKDAY: Final = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)(?!['’]?s\b)"
)
_OF_DAY: Final = r"(?:morning|forenoon|noon|midday|afternoon|evening|night|midnight)"
_MEALS: Final = (
    r"(?:breakfast|lunch(?:time|[ -]?break)?|dinner|supper|work|hours|closing|closing time|business)"
)
_FEASTS: Final = r"(?:christmas|xmas|easter|new year(?:'s)?(?: (?:eve|day))?|ramadan|eid|diwali|thanksgiving|carnival|summer|winter|spring|autumn|(?:the |our |his |her |their )?(?:summer |winter |bank |public |school )?holidays?)"
_SPANS: Final = r"(?:day|week|month|quarter|year|season|term|period|cycle)"
_HIS: Final = r"(?:the|his|her|their|our|my|this|that|a|an)"
_BEFORE: Final = r"(?:at|by|on|over|from|before|after|towards?|until|till|til|around|about|near|come|starting|beginning|effective|as of|only|not before)"
_HOURS: Final = (
    rf"(?:in|during|over|after|until|till|around|towards|from) the {_OF_DAY}|by the (?:evening|morning|afternoon|night)|this (?:evening|afternoon|night|weekend)|tonight|(?:after|at|around|until|till|from|towards) (?:noon|midday|midnight|nightfall|sunset|dusk|dawn)|(?<!before )(?<!by )midday|overnight"
    rf"|(?:{_BEFORE} |in )?(?:(?:the|this|next) )?(?:very )?(?:(?:end|beginning|start|middle|turn|close|first day|last day|half) of (?:(?:the|this|next|that|every|each) )*(?:business |working |financial |calendar )?(?:{_SPANS}|business|play|{_MONTH})|mid[- ](?:week|month|year|quarter|{_MONTH})|(?:month|year)[- ]?end(?=\W*(?:$|§)|\W* (?:and|please|pls|for|on|onto|to|off|from)\b)|(?:quarter|week|day)[- ]end(?=\W*$)|eom|eoy|eow|eoq|eod|cob|close of (?:business|play)|business close)"
    rf"|(?:on|next|before|after|by|come|until|till|from|around|during|towards|at|in|for next) (?:(?:the|his|her|their|our|next|coming|this|following) )*(?:pay ?day|pay ?roll|salary day|{_FEASTS}|audit|weekend|quarter|(?<=next )(?:month|week|year|season|pay|closing|run)|new (?:week|month|quarter|year)|coming (?:{_SPANS}|weekend)|following (?:{_SPANS}|weekend|morning)|closing|inspection|{_OF_DAY})|(?:after|till|until) (?:the )?{_MEALS}"
    rf"|(?<=\b(?:next|this) )(?:pay ?day|payroll)|(?:early|late|later|mid)[- ](?:next |this |in )?(?:{_SPANS}|{_MONTH}|{_OF_DAY})"
    rf"|(?:at|around|by|before|after|until|till) (?:half |quarter )?(?:past |to )?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: o'?clock)?(?! (?:stars?|times|places|shops|stores|cards|people|of|more|days|weeks|months|years|hours|nights|minutes)\b)|in (?:half )?an hour|in an hour or (?:so|two)|in (?:a|an|one|two|three|four|five|six|ten|some|several|a couple of|a few|the coming|the next|the following) (?:bit|while|moment|minutes?|fortnight|few \w+|hours?|days|weeks|months|quarters|years|sec|second|jiffy)|(?:a|one|two|three) (?:week|month|fortnight|day|hour|year)s? (?:from now|hence|later)"
    rf"|in (?:the )?(?:near |distant )?future|in (?:the )?(?:new|coming|following|next) (?:{_SPANS}|days|weeks|months)|in due (?:course|time)|in q[1-4]|soon(?! as)|sometime|some other (?:time|day)|some ?day|(?:at|by|on|until|till|from|after) (?:the )?(?:month|year|quarter)[- ]?end|(?<=§ )for §x\d+§(?=\W*(?:$|§))|(?<!in )one (?:of these days|day)|one fine day|shortly|later on|when free|first thing|the (?:day|week|month) after|the day after tomorrow|day after tomorrow"
    rf"|(?:on|from|by|until|till|before|after|only on) (?:the |his |her |their |our )?(?:(?:very )?(?:first|1st|next|start|starting|joining|arrival|working|following) (?:working |business )?(?:day|date|morning|week)|start(?:ing)? date|birthday|\d{{1,2}}(?:st|nd|rd|th)(?=\W*(?:$|§))|(?:first|second|third|fifteenth|twentieth|thirtieth)(?: of (?:the |next |this |every |each )?(?:month|{_MONTH}))?(?=\W*$))"
    rf"|(?:from|starting|starting from|by|come|next|coming|effective|until|till|as of|only on|before|after) (?:the )?(?:next |coming )?{_WEEKDAY}(?: (?:morning|afternoon|evening|night|onwards?))?|on (?:the )?{_WEEKDAY} (?:morning|afternoon|evening|night)|(?:this|coming) weekend|(?:on|over) (?:the )?weekends?"
)
#: What somebody does first: `when she starts`, behind a request.
_FIRST: Final = (
    rf"(?:when|once|after|until|till|as soon as|the (?:day|moment|minute)) (?:he|she|they|it|we|{_HIS} [\w'’-]+(?: [\w'’-]+)?|§[cm]\d+§|[a-z]+)"
    r" (?:starts?|begins?|joins?|comes?(?: (?:in|back|home))?|lands?|arrives?|returns?|leaves?|signs?|gets (?:here|there|back|home|in)|opens?|closes?|pays?|is (?:back|here|there|home|in|ready|due|over|done|through|up))"
)
#: Days that may have been as well: no time to come beside a word that tells what was.
_DAYS: Final = rf"(?:(?:on|in|only on) (?:the )?(?:{_WEEKDAY}|{_MONTH}|q[1-4]|\d{{1,2}}(?:st|nd|rd|th)|weekend)(?=\W*(?:$|§)|\W* (?:and|please|pls|for|on|onto|to|off|from|morning|afternoon|evening)\b)|(?:this|the) weekend)"
_WAS: Final = re.compile(
    r"\b(?:was|were|had|did|since|ago|last|past|lost|left|got|came|went|found|took|gave|broke|forgot|paid|bought|spent|hit|met|saw|ran|fell|stole|quit|resigned|booked|sent|charged|declined|happened|arrived|landed|started|joined|returned|loaded|made|(?:of|for|from|dated|since) (?:the )?(?:memo|mail|invoice|meeting|talk|call))\b"
)
_AGAIN: Final = r"(?:daily|weekly|monthly|hourly|yearly)"


def without_hours(text: str, *, and_again: bool = False) -> str:
    """A text in small letters without the times to come in it; `and_again`: without a "daily" at its ends, too."""
    text = _behind().sub(" ", _anywhere().sub(" ", text))
    if not _WAS.search(text):
        text = _days().sub(" ", text)
    return _again().sub(" ", text) if and_again else text


@cache
def _anywhere() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'’])(?:{_HOURS})(?![\w'’])")


@cache
def _days() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'’])(?:{_DAYS})(?![\w'’])")


@cache
def _behind() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'’])(?:{_FIRST})(?=[^\w§]*(?:$|§))")


@cache
def _again() -> re.Pattern[str]:
    return re.compile(rf"^\W*{_AGAIN}\b|\b{_AGAIN}\W*$")


__all__ = ["without_hours"]
