"""The whole way from a text to its readings, from room to room.

`plain_text` cleans and cuts it, `extraction` finds its values, `recognition` says what each clause asks for, and
`readings` fills and checks the slots. Here only the order is decided, and what holds for all clauses together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.intents.by_sentence import (
    asks_for_another,
    asks_without_number,
    candidates,
    in_fields,
    is_bare_number,
    is_forbidden,
    is_not_meant,
    is_taken_back_beside,
    leaves_it_standing,
    lookup_meant,
    means_one_of_several,
    only_in_a_story,
    skips_a_control,
    takes_a_request_back,
    without_list_marks,
    without_stories,
)
from bot.intents.directory import Directory
from bot.intents.doubts import (
    VALUE_OF,
    as_said,
    asks_for_a_part,
    doubt_of_sum,
    is_another_value,
    is_unsure_which_network,
    may_be_said_to_others,
    may_mean_another_card,
    moves_again,
    tells,
    the_other_way,
    turned,
    with_days,
)
from bot.intents.extraction import IN_DOLLARS, Entity, Found, as_one_line, in_words, read_entities
from bot.intents.model import Ask, Facts, Parsed, Reading, Thread
from bot.intents.plain_text import Clause, Clean, clean, split
from bot.intents.ranking import ranked
from bot.intents.readings import (
    Context,
    one_card,
    questions,
    read_action,
    read_answer,
    read_declared_phrase,
    read_follow_up,
    read_lookup,
    read_misspelt_verb,
    read_undo_or_pause,
    with_card_of_the_undo,
    with_other_network,
)
from bot.intents.recognition import (
    DECIDES,
    DECISION,
    HELP,
    NOT_OFFERED,
    Frame,
    frame_of,
    is_not_done_here,
    spaced,
    strip_lead,
)
from bot.intents.requests import (
    Apart,
    asks_for_two,
    is_another_thing,
    is_bare_comma,
    is_only_background,
    may_be_a_freeze,
    may_be_unfreeze,
    may_tell_a_state,
    only_asks,
    person_named,
    read_request,
    read_what_opens_nothing,
    request_apart,
    stays_closed,
    with_card_of_the_tale,
    with_first_load,
)

if TYPE_CHECKING:
    from bot.operations import Operation

MOST_ACTIONS: Final = 3
# Prose of 2,000 characters has some thirty; each is compared with what stands in the others.
MOST_CLAUSES: Final = 60
# A table of them is no message to us; each is compared with what stands around it.
MOST_NUMBERS: Final = 200
_NUMBERS: Final = re.compile(r"\d+")
# A list of thirty cards with an amount each holds as many; most rooms look at what stands around each.
MOST_VALUES: Final = 64
# Prose of 2,000 characters has some 450 words and signs, and most rooms look at each.
MOST_WORDS: Final = 600
_WORDS: Final = re.compile(r"\w+|[^\w\s]")
_MANY: Final = Ask("text", "That is many things at once. Say it in fewer words.")
_DONE_ALREADY: Final = "That reads like something that was done or asked for already."
_DECIDED_BY_BUTTON: Final = (
    "Decisions are made with the buttons of a request; nothing said here approves or rejects."
)


def parse(
    text: str,
    facts: Facts,
    thread: Thread | None = None,
    kinds: Mapping[str, type[Operation]] | None = None,
) -> Parsed:
    """What a text asks for. Never raises for a text, whatever is in it.

    `thread` is what this person and the bot were at; `kinds` are the operation kinds whose declared phrases are
    tried apart from the table of intents.
    """
    ruled = read_by_rules(text, facts, thread, kinds)
    if ruled.context is None or ruled.is_answer:
        return Parsed(ruled.readings, ruled.guarded)
    whole = ranked(ruled.readings, ruled.context)
    return Parsed(whole.readings, suggestions=whole.suggestions)


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the rules alone made of a text. No `context` where it was not to be read at all."""

    readings: tuple[Reading, ...]
    context: Context | None = None
    guarded: bool = False
    is_answer: bool = False


def read_by_rules(
    text: str,
    facts: Facts,
    thread: Thread | None = None,
    kinds: Mapping[str, type[Operation]] | None = None,
) -> Ruled:
    """The readings of the rules, as `parse` takes them further; the ranker learns from these."""
    cleaned = clean(text, facts.our_id)
    if cleaned.too_long:
        ask = Ask("text", f"{cleaned.doubts[0]} Say it in fewer words.")
        return Ruled((Reading("ambiguous", ask=ask),))
    words = len(_WORDS.findall(cleaned.text))
    if words > MOST_WORDS or len(_NUMBERS.findall(cleaned.text)) > MOST_NUMBERS:
        return Ruled((Reading("ambiguous", ask=_MANY),))
    cards = Directory.of(facts.cards)
    plainly = "" if cleaned.doubts or cleaned.guarded else in_fields(text, cards)
    if plainly:
        of_fields = read_by_rules(plainly, facts, None, kinds)
        if _found_one(of_fields.readings) or any(one.ask for one in of_fields.readings):
            return of_fields
    written = in_words(as_one_line(cleaned.text), cards)
    found = read_entities(written, facts, cards)
    context = Context(facts, cards, found, cleaned.doubts, _known_to(thread, cleaned))
    clauses = split(found.masked)
    if len(clauses) > MOST_CLAUSES or len(found.entities) > MOST_VALUES:
        return Ruled((Reading("ambiguous", ask=_MANY),))
    answer = read_answer(clauses, context) or read_follow_up(clauses, context)
    readings = answer or _asked_for(clauses, context, kinds or {})
    if not answer:
        readings = _looked_at_again(_without_second(readings, clauses), context)
        readings = _or_threeds(readings, clauses, context, kinds or {})
        readings = _or_apart(readings, clauses, context, kinds or {}, written)
        readings = _or_by_sentence(readings, context, kinds or {}, written)
        readings = _or_what_opens_nothing(readings, context, kinds or {})
        readings = _turned(_all_meant(readings, context, written), context)
        readings = _as_lookups(_as_reported(readings, context, written), context)
        readings = [with_card_of_the_undo(one, context) for one in readings]
        readings = [with_first_load(with_other_network(one, context), context) for one in readings]
    settled = _settled(readings, cleaned)
    return Ruled(settled, None if cleaned.guarded else context, cleaned.guarded, bool(answer))


def _asked_for(
    clauses: Sequence[Clause], context: Context, kinds: Mapping[str, type[Operation]]
) -> list[Reading]:
    """What the clauses ask for one by one; the one request of the whole, where none of them opens anything."""
    readings = _read_all(clauses, context, kinds)
    if _found_one(readings) or any(_orders_what_is_not_done(clause) for clause in clauses):
        return readings
    request = read_request(clauses, context, kinds)
    return [request] if request is not None else readings


def _found_one(readings: Sequence[Reading]) -> bool:
    """Is there a request among them already?"""
    return any(one.opened or one.kind or one.takes_back for one in readings)


def _is_not_done_here(readings: Sequence[Reading]) -> bool:
    """Was it said of one of them that it is not done here?"""
    return any(one.notes and one.intent == "help" for one in readings)


def _or_apart(
    readings: Sequence[Reading],
    clauses: Sequence[Clause],
    context: Context,
    kinds: Mapping[str, type[Operation]],
    written: str,
) -> list[Reading]:
    """The request read by itself, where what else the message says only tells why; else the readings as they are."""
    if context.doubts or _found_one(readings):
        return list(readings)
    if _is_not_done_here(readings):
        return list(readings)
    apart = request_apart(written, context.found.entities)
    if apart is None:
        return list(readings)
    piece, card = with_card_of_the_tale(written, apart, context.found.entities)
    found = read_entities(piece, context.facts, context.cards)
    if not _are_the_same(found, context.found, apart, card):
        return list(readings)
    alone = replace(context, found=found)
    its_own = split(found.masked)
    asked = _looked_at_again(_without_second(_asked_for(its_own, alone, kinds), its_own), alone)
    if len(asked) != 1 or not (asked[0].opened or asked[0].takes_back):
        return list(readings)
    if not is_only_background(apart, asked[0], context.facts):
        return list(readings)
    whole = _looked_at_again(_without_second(asked, clauses), context, apart=True)
    return whole if whole[0].opened or whole[0].takes_back else list(readings)


def _or_by_sentence(
    readings: Sequence[Reading],
    context: Context,
    kinds: Mapping[str, type[Operation]],
    written: str,
) -> list[Reading]:
    """The one request of a sentence, where nothing else speaks against it; else the readings as they are."""
    if context.doubts or _found_one(readings):
        return list(readings)
    not_here = _is_not_done_here(readings)
    text = without_list_marks(written)
    entities = (
        context.found.entities
        if text == written
        else read_entities(text, context.facts, context.cards).entities
    )
    asking: list[Reading] = []
    for candidate in candidates(text, entities):
        found = read_entities(candidate.text, context.facts, context.cards)
        if not _hold_the_same(found, candidate.own):
            continue
        alone = replace(context, found=found)
        its_own = split(found.masked)
        asked = _looked_at_again(_without_second(_asked_for(its_own, alone, kinds), its_own), alone)
        if not_here and asked[:1] and asked[0].intent != "reveal_card":
            continue
        if len(asked) != 1 or not (asked[0].opened or (asked[0].is_action and asked[0].ask)):
            continue
        if not asked[0].opened:
            asking = asking or ([] if is_taken_back_beside(candidate) else asked)
        elif leaves_it_standing(candidate, asked[0], context.facts):
            all_of_it = replace(context, found=read_entities(candidate.whole, context.facts, context.cards))
            left = without_stories(candidate)
            without = (
                replace(context, found=read_entities(left, context.facts, context.cards))
                if left != candidate.whole
                else None
            )
            clauses = split((without or all_of_it).found.masked)
            one = _without_second(asked, clauses, names_card=candidate.names_card)
            whole = _looked_at_again(one, all_of_it, apart=True, without=without)
            if whole[0].opened:
                return whole
    if asking and not any(one.is_action for one in readings):
        return asking
    return list(readings)


def _or_what_opens_nothing(
    readings: Sequence[Reading], context: Context, kinds: Mapping[str, type[Operation]]
) -> list[Reading]:
    """The question about codes or a number, where no other request was read or is doubted."""
    if any(one.is_action or one.takes_back for one in readings):
        return list(readings)
    asked = read_what_opens_nothing(context, kinds)
    if asked is None or any(one.wanted not in ("", asked.intent) for one in readings):
        return list(readings)
    return [asked]


def _all_meant(readings: Sequence[Reading], context: Context, written: str) -> list[Reading]:
    """The readings, none of them open where the message asks that nobody else signs, looks or knows, or
    for more, where it is not meant, or where it means another card or value than it holds."""
    if sum(one.is_action or one.wants_action for one in readings) > 1:
        return list(readings)  # of several, none opens by itself
    text = context.found.masked.lower()
    said = as_said(text, written, context.found.entities)
    return [_as_meant(one, context, text, said) if one.opened else one for one in readings]


def _as_meant(reading: Reading, context: Context, text: str, said: str) -> Reading:
    """The form that would open, or what is asked in its place."""
    if reading.card is not None and means_one_of_several(text):
        return _without("card", replace(reading, card=None))
    if takes_a_request_back(text, reading.intent):
        return Reading("undo")
    if other := the_other_way(reading, context):
        return _kept_closed(reading, "That may be meant in another way.", wanted=other)
    if doubt := doubt_of_sum(reading, context):
        return _in_doubt(reading, doubt)
    if reading.intent == "submit_funding" and is_unsure_which_network(said):
        return _without("network", reading)
    if is_another_value(said, reading.intent):
        return _without(VALUE_OF[reading.intent], reading)
    why = _why_not_opened(reading, context, said)
    return _kept_closed(reading, why, wanted=reading.intent) if why else reading


def _turned(readings: Sequence[Reading], context: Context) -> list[Reading]:
    """The readings, none of which offers a freeze against what its words come to."""
    alone = sum(one.is_action or one.wants_action for one in readings) == 1
    ways = [turned(one, context, alone=alone) for one in readings]
    why = "That may be meant in another way."
    return [
        _kept_closed(one, why, wanted=way) if way else one for one, way in zip(readings, ways, strict=True)
    ]


def _as_reported(readings: Sequence[Reading], context: Context, written: str) -> list[Reading]:
    """What is known of a request, in the place of its form, where the message tells of it or asks after it."""
    if sum(one.is_action for one in readings) != 1:
        return list(readings)
    text = spaced(with_days(context.found.masked, written, context.found.entities)).lower()
    return [_known_of(one) if one.is_action and tells(text, one.intent) else one for one in readings]


def _known_of(reading: Reading) -> Reading:
    if reading.card is None:
        return _kept_closed(reading, _DONE_ALREADY, wanted=reading.intent)
    intent = "card_show" if reading.intent == "set_limits" else "card_requests"
    said = questions.said_of(reading.intent, reading.slots)
    note = f"{_DONE_ALREADY} If it is to be done now, say: please {said}."
    return Reading(intent, {"card": reading.slots["card"]}, card=reading.card, notes=(note,))


def _kept_closed(reading: Reading, why: str, *, wanted: str) -> Reading:
    """Offered behind a question, and not opened."""
    return _asked(reading, questions.really(wanted, reading.slots, why), wanted=wanted)


def _asked(reading: Reading, ask: Ask, *, wanted: str) -> Reading:
    return replace(reading, intent="ambiguous", wanted=wanted, opened=False, ask=ask)


def _in_doubt(reading: Reading, doubt: str) -> Reading:
    """The request without its sum, which is asked for."""
    slot = VALUE_OF.get(reading.intent, "amount")
    slots = {name: value for name, value in reading.slots.items() if name != slot}
    return _asked(replace(reading, slots=slots), questions.exactly(slot, doubt), wanted=reading.intent)


def _why_not_opened(reading: Reading, context: Context, said: str) -> str:
    if skips_a_control(context.found.masked):
        return "Nobody who has to sign is left out here."
    if is_forbidden(context.found.masked.lower()):
        return "You say that it is not permitted."
    if is_not_meant(context.found.masked) or is_another_thing(reading, context):
        return "I act on plain requests of your own only."
    if may_mean_another_card(said, reading.intent, str(reading.slots.get("card") or "")):
        return "That may be another card than the one it names."
    if asks_for_a_part(said, reading.intent):
        return "A form holds for all that a card does, everywhere and from now on."
    if may_be_said_to_others(said, reading.intent):
        return "That may be said to somebody else, or by somebody else."
    if moves_again(said, reading.intent):
        return "An amount is moved once: standing orders are not offered."
    return "That may be two things at once." if asks_for_another(context.found, reading) else ""


def _as_lookups(readings: Sequence[Reading], context: Context) -> list[Reading]:
    """The look-up in the place of a form, where the message only wants to know what a card holds or is."""
    if asks_without_number(context.found.masked) and not any(
        one.opened and one.intent != "reveal_card" for one in readings
    ):
        written, card = one_card(context)
        if card is not None:
            return [Reading("card_show", {"card": written}, card=card)]
    kept = []
    for reading in readings:
        if (
            reading.wanted == "set_limits"
            and reading.card is not None
            and only_asks(context.found.masked, reading.wanted)
        ):
            kept.append(Reading("card_show", {"card": reading.slots["card"]}, card=reading.card))
            continue
        knows = reading.opened and "amount" not in reading.slots
        intent = lookup_meant(reading.intent, context.found.masked) if knows else ""
        kept.append(
            Reading(intent, {"card": reading.slots["card"]}, card=reading.card) if intent else reading
        )
    return kept


def _hold_the_same(found: Found, own: Sequence[Entity]) -> bool:
    """Does a request in plain words hold the values it held as it was written, no name surer than there?

    A bare number may be its amount.
    """
    theirs = Counter((one.kind, one.written, "weak" in one.traits) for one in found.entities)
    amounts = {one.written: one.kind for one in found.entities if one.kind in ("amount", "rate")}
    mine = Counter(
        (
            amounts.get(one.written, one.kind) if is_bare_number(one) else one.kind,
            one.written,
            "weak" in one.traits,
        )
        for one in own
    )
    return theirs == mine and not any(_is_doubted(one, own) for one in found.entities)


def _is_doubted(read: Entity, written: Sequence[Entity]) -> bool:
    """Was an amount in doubt where it stood (`load 90 onto 3018. Canadian dollars`), though by itself it is in none?"""
    return (
        read.kind == "amount"
        and not read.doubt
        and any(one.doubt == IN_DOLLARS and one.written == read.written for one in written)
    )


def _are_the_same(found: Found, whole: Found, apart: Apart, card: Entity | None) -> bool:
    """Does the request, read by itself, hold the same values as within the whole, and the card put in for "it"?"""
    inside = [one for one in whole.entities if apart.start <= one.start and one.end <= apart.end]
    expected = Counter((one.kind, one.written) for one in [*inside, *([card] if card else [])])
    if Counter((one.kind, one.written) for one in found.entities) != expected:
        return False
    if any(_is_doubted(one, inside) for one in found.entities):
        return False
    values = {(one.kind, one.written): one.value for one in found.entities}
    return all(values[one.kind, one.written] == one.value for one in inside)


def _known_to(thread: Thread | None, cleaned: Clean) -> Thread | None:
    """What "it" may mean: below somebody else's words nothing that was talked about before, but what is in those."""
    if thread is None or not cleaned.below_a_quote:
        return thread
    return replace(thread, last_card=None, read_intent="", read_slots={}, earlier_cards=())


def _without_second(
    readings: Sequence[Reading], clauses: Sequence[Clause], *, names_card: bool = False
) -> list[Reading]:
    """A form that would open, kept closed where the message asks for something else too that nobody understood."""
    actions = [reading for reading in readings if reading.is_action or reading.wants_action]
    if len(actions) != 1 or not actions[0].opened:
        return list(readings)
    of_somebody = names_card or actions[0].intent in ("submit_funding", "order_card")
    if not asks_for_two(clauses, of_somebody=of_somebody):
        return list(readings)
    why = "That may be two things at once."
    return [_kept_closed(one, why, wanted=one.intent) if one.opened else one for one in readings]


def _or_threeds(
    readings: Sequence[Reading],
    clauses: Sequence[Clause],
    context: Context,
    kinds: Mapping[str, type[Operation]],
) -> list[Reading]:
    """`shops ask for 3-D Secure. please enable it`: not the card is to be enabled, where the whole message says so."""
    closed = [reading for reading in readings if reading.wanted == "unfreeze_card"]
    if not closed or "threeds" not in context.found.masked or any(reading.opened for reading in readings):
        return list(readings)
    request = read_request(clauses, context, kinds)
    if request is None or request.intent != "set_3ds":
        return list(readings)
    return _looked_at_again([request], context)


def _looked_at_again(
    readings: Sequence[Reading], context: Context, *, apart: bool = False, without: Context | None = None
) -> list[Reading]:
    """The readings, none of them open where the message as a whole speaks against it; `apart` as in `stays_closed`.

    `without`: the same without its stories, of which no word could be about a request.
    """
    if sum(reading.opened for reading in readings) != 1:
        return list(readings)  # of several, none opens by itself
    return [_at_last(one, context, apart=apart, without=without) if one.opened else one for one in readings]


def _at_last(reading: Reading, context: Context, *, apart: bool, without: Context | None) -> Reading:
    """The form that would open, or what is asked in its place."""
    if may_be_a_freeze(reading, context):
        return _asked(reading, questions.close_or_freeze(reading.slots), wanted="close_card")
    if may_be_unfreeze(reading, context):
        why = "That may have been dictated as “unfreeze”."
        return _kept_closed(reading, why, wanted="unfreeze_card")
    if may_tell_a_state(reading, context):
        return _kept_closed(reading, "That may be how the card is now.", wanted="unfreeze_card")
    if is_bare_comma(reading, context):
        ask = questions.exactly("amount", "how much exactly, in US dollars")
        return _asked(reading, ask, wanted=reading.intent)
    if reading.intent == "order_card" and not _is_named(reading, context):
        return _without("name", reading)
    if slot := only_in_a_story(reading, context):
        return _without(slot, reading)
    if stays_closed(reading, context, apart=apart) and (
        without is None or stays_closed(reading, without, apart=apart)
    ):
        return _kept_closed(reading, "I act on plain requests of your own only.", wanted=reading.intent)
    return reading


def _is_named(reading: Reading, context: Context) -> bool:
    """Is the name on the new card one of a person or a group, whichever way it was read?"""
    name = str(reading.slots.get("name") or "")
    return person_named(name, context.found.cased, str(reading.slots.get("email") or "")) == name


def _without(slot: str, reading: Reading) -> Reading:
    """The request without a value that is not its own, which is asked for."""
    slots = {name: value for name, value in reading.slots.items() if name != slot}
    first_load = reading.intent == "order_card" and slot == "amount"
    asked = (
        questions.exactly("amount", "what is to be on the new card")
        if first_load
        else questions.missing(slot, reading.intent)
    )
    return replace(reading, slots=slots, opened=False, ask=asked, notes=())


def _read_all(
    clauses: Sequence[Clause], context: Context, kinds: Mapping[str, type[Operation]]
) -> list[Reading]:
    """The readings of all clauses, in their order; a look-up asked for twice counts once."""
    readings: list[Reading] = []
    before: list[Entity] = []
    loose = [_loose(clause, context.found) for clause in clauses]
    for number, clause in enumerate(clauses):
        others = [entity for other, entities in enumerate(loose) if other != number for entity in entities]
        here = replace(context, cards_before=tuple(before), loose=tuple(others))
        reading = _read_clause(clause, here, kinds)
        before += context.found.inside(clause.text, "card")
        if reading is not None and reading.intent == "undo" and _takes_back(clause, clauses):
            continue
        if reading is not None and not any(_repeats(reading, other) for other in readings):
            readings.append(reading)
    if not readings and len(clauses) > 1:
        whole = Clause(" ".join(clause.text for clause in clauses), 0)
        reading = read_lookup(whole, replace(context, cards_before=tuple(before)))
        return [reading] if reading else []
    return readings


def _takes_back(clause: Clause, clauses: Sequence[Clause]) -> bool:
    """`load 60 onto 3018. undo`: what is taken back is what was just said, and nothing was requested."""
    earlier = clauses[: clauses.index(clause)]
    return any(frame_of(strip_lead(other.text)) is not None for other in earlier)


def _repeats(one: Reading, other: Reading) -> bool:
    """The same look-up, or the same request said again with less: `60 onto 1206, load it`."""
    if one.card != other.card or one.intent != other.intent:
        return False
    return (
        not one.wanted if not one.is_action else not one.opened and one.slots.items() <= other.slots.items()
    )


def _loose(clause: Clause, found: Found) -> list[Entity]:
    """Numbers in a clause that is no request itself: somebody has to say what they are."""
    kinds = ("number", "amount", "rate", "address", "phone", "foreign", "later")
    numbers = found.inside(clause.text, *kinds)
    return numbers if numbers and (clause.negated or frame_of(strip_lead(clause.text)) is None) else []


def _read_clause(clause: Clause, context: Context, kinds: Mapping[str, type[Operation]]) -> Reading | None:
    bare = strip_lead(clause.text)
    if DECISION.search(bare) or (
        DECIDES.search(clause.text) and context.found.inside(clause.text, "request")
    ):
        return _decision(clause.text, context)
    if NOT_OFFERED.search(clause.text) or _orders_what_is_not_done(clause):
        return Reading("help", notes=("That is not offered in conversation.",))
    taken_back = read_undo_or_pause(bare, clause, context)
    if taken_back is not None:
        return taken_back
    template = read_declared_phrase(bare, clause, context, kinds)
    if template is not None:
        return template
    frame = frame_of(bare)
    if frame is not None and not _asks_how(clause):
        action = read_action(frame, clause, context)
        if action is not None:
            return action
    if HELP.search(bare):
        return Reading("help")
    lookup = read_lookup(clause, context) if not _commanded(frame, clause) else None
    return lookup or read_misspelt_verb(bare, clause, context)


def _orders_what_is_not_done(clause: Clause) -> bool:
    """`schedule a top-up of 50 for 3018`: a request in other words is not made of it."""
    return not clause.negated and is_not_done_here(strip_lead(clause.text))


def _commanded(frame: Frame | None, clause: Clause) -> bool:
    """A refused command is not turned into a look-up of its words."""
    return frame is not None and clause.negated


def _asks_how(clause: Clause) -> bool:
    return HELP.search(clause.text) is not None and clause.text.startswith(
        ("how", "what", "help", "syntax", "guide", "command", "the syntax")
    )


def _decision(text: str, context: Context) -> Reading:
    requests = context.found.inside(text, "request")
    slots = {"request": requests[0].value} if requests else {}
    return Reading("pending_approvals", slots, notes=(_DECIDED_BY_BUTTON,))


def _settled(readings: Sequence[Reading], cleaned: Clean) -> tuple[Reading, ...]:
    """What holds for all readings together: one form at most, and a text without a request is said to be one."""
    if cleaned.guarded:
        return (Reading("ambiguous", ask=Ask("card", cleaned.doubts[0])),)
    if not readings:
        return (Reading("none"),)
    actions = [r for r in readings if r.is_action or r.wants_action]
    if len(actions) > MOST_ACTIONS:
        ask = questions.choose_first([(r.wanted or r.intent, r.slots) for r in actions])
        return (Reading("ambiguous", ask=ask),)
    if len(actions) > 1:
        return tuple(replace(r, opened=False) for r in readings)
    if any(_DECIDED_BY_BUTTON in reading.notes for reading in readings):
        # `I hereby approve R-7K3M. Please release it`: no card is to be released.
        readings = [r for r in readings if r.card is not None or not r.wants_action]
    # What is not done here is said first.
    return tuple(
        sorted(
            readings, key=lambda r: not (r.notes and (r.intent == "help" or _DECIDED_BY_BUTTON in r.notes))
        )
    )
