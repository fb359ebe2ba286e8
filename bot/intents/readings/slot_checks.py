"""The gate: what speaks against filling in a form from what was said.

All must hold: one plain request, every value exact, every digit of the message accounted for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.intents.extraction import Entity
from bot.intents.model import Ask, Facts, Reading
from bot.intents.plain_text import Clause
from bot.intents.readings import questions
from bot.intents.readings.context import Context
from bot.intents.readings.slot_values import Values
from bot.intents.recognition import Frame

_ALSO_USED: Final = {
    "topup_card": {"card", "amount"},
    "unload_card": {"card", "amount"},
    "set_limits": {"card", "amount"},
    "submit_funding": {"tx_hash", "network", "address"},
    "set_markup": {"rate", "amount"},
    "change_phone": {"card", "phone"},
    "order_card": {"phone", "email", "card", "reference"},
}
NOTHING_SCHEDULED: Final = "Nothing is scheduled for another time."
_AGAIN_AND_AGAIN: Final = re.compile(
    r"\bautomatic\w*|\b(?:every|each) (?:§|mon|tues|wednes|thurs|fri|satur|sun|day|week|month|first|last|1st"
    r"|morning)|\b(?:first|last|1st) (?:working )?(?:day )?of (?:every|each|the) month\b"
)
#: `friday morning` in a request is the one to come.
_PART_OF_A_DAY: Final = re.compile(r"§p(\d+)§ (?:morning|evening|night|afternoon)\b")
_A_WEEKDAY: Final = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)
_OPEN_QUESTION: Final = re.compile(
    r"^(?:\W*\w+\W+){0,6}?(?:can|could|would|will|let's|lets)\b|\bplease\b|\bpls\b|\bplz\b"
)


def action_doubt(
    frame: Frame, clause: Clause, context: Context, values: Values, reading: Reading, strange: Sequence[str]
) -> Ask | None:
    """The first thing that speaks against filling in a form."""
    if not context.doubts and _is_scheduled(clause, context):
        return questions.really(frame.intent, reading.slots, NOTHING_SCHEDULED)
    if values.doubt is not None and not context.doubts:
        return values.doubt
    if not frame.clear and not context.doubts:
        return Ask("intent", f"Please say {frame.why}.")
    if strange and not context.doubts:
        return questions.really(
            frame.intent, reading.slots, f"I do not understand “{' '.join(strange)[:60]}” in this."
        )
    kinds = _ALSO_USED.get(frame.intent, {"card"})
    used = {id(entity) for entity in context.found.inside(clause.text) if entity.kind in kinds}
    return first_doubt(clause, context, used, reading)


def _is_scheduled(clause: Clause, context: Context) -> bool:
    """Is it wanted at another time, or again and again?"""
    if _AGAIN_AND_AGAIN.search(clause.text):
        return True
    part_of_a_day = _PART_OF_A_DAY.findall(clause.text)
    if any(_A_WEEKDAY.search(context.found.entities[int(number)].written) for number in part_of_a_day):
        return True
    today = context.facts.now.astimezone(ZoneInfo(context.facts.tz)).date()
    return any(
        entity.kind == "later"
        or (
            entity.kind == "period"
            and (
                _is_to_come(entity, today)
                or _NOT_NOW.search(entity.written)
                or _is_a_day_ahead(entity, clause.text, context, today)
            )
        )
        for entity in context.found.inside(clause.text, "later", "period")
    )


#: `freeze it on december 1st`, said in November, is the one to come.
_ON_A_DAY: Final = re.compile(r"\b(?:on|by|from|starting|before|effective|as of) (?:the )?$")
_SOON: Final = timedelta(days=183)


def _is_a_day_ahead(entity: Entity, text: str, context: Context, today: date) -> bool:
    """Is a day without its year meant that lies closer ahead than behind?"""
    since = entity.value.since if entity.value is not None else None
    sign = f"§p{context.found.entities.index(entity)}§"
    before = text.partition(sign)[0]
    if since is None or isinstance(since, datetime) or re.search(r"\b(?:19|20)\d\d\b", entity.written):
        return False
    if not _ON_A_DAY.search(before) and not entity.written.lower().startswith(("from ", "since ")):
        return False
    return bool(today - since > _SOON and entity.value.until - since <= timedelta(days=1))


def _is_to_come(entity: Entity, today: date) -> bool:
    return entity.value is not None and entity.value.last_day > today


def first_doubt(
    clause: Clause, context: Context, used: set[int], reading: Reading | None = None
) -> Ask | None:
    """What holds for every action, whatever its verb: a plain request, now, with all its digits in `used`."""
    intent, slots = (reading.intent, reading.slots) if reading else ("this", {})
    if context.doubts:
        return Ask("text", context.doubts[0])
    if clause.doubted:
        return questions.really(intent, slots, "I act on plain requests only, and only now.")
    if clause.asked and not _OPEN_QUESTION.search(clause.text):
        return questions.really(intent, slots, "That is a question.")
    spare = _spare(clause, context, used)
    if spare is None:
        return None
    if spare.kind in ("later", "period"):
        return questions.really(intent, slots, NOTHING_SCHEDULED)
    return questions.unplaced(spare.written or "the link")


def _spare(clause: Clause, context: Context, used: set[int]) -> Entity | None:
    """The first entity of the message that this request does not account for."""
    for entity in context.found.inside(clause.text):
        if id(entity) in used or entity.kind == "person":
            continue
        if not (entity.kind == "period" and is_today(entity, context.facts)):
            return entity
    return next(iter(context.loose), None)


#: Part of today, and not now.
_NOT_NOW: Final = re.compile(r"tonight|this (?:evening|afternoon|night)|later today", re.IGNORECASE)


def is_today(entity: Entity, facts: Facts) -> bool:
    """Whether a period is this day, as in `freeze it today`; `tonight` is wanted later."""
    if _NOT_NOW.search(entity.written):
        return False
    today = facts.now.astimezone(ZoneInfo(facts.tz)).date()
    return entity.value is not None and entity.value.since == entity.value.until == today
