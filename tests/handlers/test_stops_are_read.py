"""What stops something in plain English is known for it beyond the budget, as whatever reads plain English has it."""

from __future__ import annotations

from bot import operations
from bot.intents import parse
from handlers import budget, safer
from tests.handlers.slack_driver import BOB
from tests.support.utterances import facts, utterances

OTHER_WORDS = """turn off card 3018; switch off card 3018; shut off 3018; put 3018 on ice; ice card 3018; ❄️ 3018
🧊 3018; put ❄️ on 3018; immobilize card 3018; frezze card 3018; freze card 3018; no more payments on card 3018
sperren 3018; 3018 einfrieren; blcok card 3018; lokc card 3018; fre eze card 3018; pasue card 3018; feeze card 3018
cut off card 3018; card 3018 is missing; bloque la tarjeta 3018; blocca la carta 3018; zablokować 3018""".replace(
    "\n", ";"
).split(";")
STOPS = {"freeze_card", "pause_sending", "undo"}


def _stops(text: str) -> bool:
    """By the bot's own reading, which knows the cards."""
    parsed = parse(text, facts())
    found = {one.intent for one in parsed.readings} | {one.intent for one in parsed.suggestions}
    return bool(STOPS & found)


def _is_known(text: str) -> bool:
    return safer.says_so(text) or safer.is_read_so(text, facts().now, operations.kinds())


def test_every_sentence_that_is_read_as_a_stop_or_suggests_one_is_known_for_it() -> None:
    said = [one.text for part in ("dev", "held_out") for one in utterances(part)]
    texts = [text for text in [*said, *map(str.strip, OTHER_WORDS)] if _stops(text)]

    assert len(texts) > len(OTHER_WORDS)
    assert [text for text in texts if not _is_known(text)] == []


def test_other_sentences_are_mostly_known_for_none() -> None:
    said = [
        "what is our float today?",
        "who can approve",
        "show card 3018",
        "top up 3018 with 50",
        "1 " * 300,
    ]
    assert [text for text in said if _is_known(text)] == []


def test_nobody_has_more_of_them_looked_at_than_there_are_in_a_minute() -> None:
    looks: list[str] = []
    kept = budget.Budget()

    def look() -> bool:
        looks.append("looked")
        return True

    for n in range(500):
        kept.take(BOB, 1.0 + n / 100, look=look)
    assert len(looks) == budget.MOST_LOOKED_AT
