"""The bot's side of a conversation: questions with their answers to press, forms to review, short words.

Text of people is echoed only as a value of a field, escaped or as plain text; nothing links or mentions.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.intents import Ask
from handlers.views import blocks as b
from handlers.views import ids

_MOST_BUTTONS = 5
_MOST_OPTIONS = 100

Lines = Sequence[tuple[str, str]]


def question(ask: Ask, mark: str, *, notes: Sequence[str] = (), missed: bool = False, typed: str) -> b.Block:
    """One thing asked. `typed` says where to type what is not there to press."""
    lead = "I didn't understand this. " if missed else ""
    text = f"{lead}{ask.question}"
    blocks = [b.section(b.said(text)), *_notes(notes)]
    forget = b.button("Never mind", ids.SAY_FORGET, mark)
    if not ask.options:
        blocks += [b.context(typed), b.actions([forget])]
    elif len(ask.options) <= _MOST_BUTTONS:
        picks = [b.button(o.label, f"{ids.SAY_PICK}:{n}", f"{mark}:{n}") for n, o in enumerate(ask.options)]
        blocks.append(b.actions([*picks, forget]))
    else:
        blocks += _menu(ask, mark, forget)
    return b.message(b.said(text), blocks)


def _menu(ask: Ask, mark: str, forget: b.Block) -> list[b.Block]:
    shown = ask.options[:_MOST_OPTIONS]
    menu: b.Block = {
        "type": "static_select",
        "action_id": ids.SAY_PICK,
        "placeholder": b.plain("Choose", b.PLACEHOLDER),
        "options": [b.option(o.label, f"{mark}:{n}") for n, o in enumerate(shown)],
    }
    left = len(ask.options) - len(shown)
    more = [b.context(f"and {left} more: type the reference or the last four digits")] if left else []
    return [*more, b.actions([menu, forget])]


def offer(
    verb: str, lines: Lines, mark: str, number: int, notes: Sequence[str], *, full: bool
) -> list[b.Block]:
    """How a request was understood, and the button to its form."""
    review = b.button("Review and submit", f"{ids.SAY_REVIEW}:{number}", f"{mark}:{number}", "primary")
    missing = "" if full else " The form asks for the rest."
    return [
        b.section(f"*{b.esc(verb)}*{missing}"),
        *b.pairs(lines),
        *_notes(notes),
        b.actions([review]),
    ]


def offers(shown: Sequence[Sequence[b.Block]], verbs: Sequence[str], *, is_own: bool) -> b.Block:
    """The forms of one text. Nothing opens by itself, and nothing is asked for before a form is submitted."""
    what = ", then ".join(verbs)
    text = f"{what}: check the fields, then submit. Nothing has been requested yet."
    blocks = [block for one in shown for block in one]
    if len(shown) > 1:
        blocks.append(b.context("Each of these is a separate request with its own approval."))
    if not is_own:
        blocks.append(
            b.context("Somebody else wrote this message. The request would be yours: check every field.")
        )
    last = b.context("Nothing has been requested yet: check the fields, then submit.")
    return b.message(b.said(text), [*blocks, last])


def choice(old: str, new: str, mark: str) -> b.Block:
    """A new request in the middle of another one's question."""
    text = f"I was still asking about “{old}”. Drop that and continue with “{new}”?"
    buttons = [
        b.button(f"Continue with {new}", ids.SAY_SWITCH, mark, "primary"),
        b.button(f"Keep {old}", ids.SAY_STAY, mark),
    ]
    return b.message(b.said(text), [b.section(b.said(text)), b.actions(buttons)])


def words(text: str) -> b.Block:
    return b.message(b.said(text), [b.section(b.said(text))])


def pausing(running: Sequence[str], paused: Sequence[str]) -> b.Block:
    """What stops all sending: a button for each program, which opens the form that asks why and confirms it."""
    text = "Nothing is paused yet. Press the button to confirm." if running else "Nothing more to pause."
    already = f" Paused already: {', '.join(paused)}." if paused else ""
    buttons = [
        b.button(f"Pause {name}", f"{ids.PAUSE}:{n}", ids.typed(name), "danger")
        for n, name in enumerate(running)
    ]
    blocks = [b.section(b.said(f"{text}{already}"))]
    return b.message(b.said(f"{text}{already}"), [*blocks, b.actions(buttons)] if buttons else blocks)


def guarded() -> b.Block:
    """The text held a card number, which is neither kept nor repeated."""
    text = (
        "This message holds what looks like a full card number. I did not read on, keep it or log it. Please delete the"
        " message, and name the card by its last four digits."
    )
    return b.message(text, [b.section(text)])


def too_many() -> b.Block:
    """More was said in a minute than is read."""
    text = (
        "You sent more than 20 messages within a minute, so I did not read this one. Try again in a minute. Commands,"
        " forms and buttons work as always."
    )
    return b.message(text, [b.section(text)])


def lost(examples: Sequence[str]) -> b.Block:
    """Nothing was understood: what would be."""
    text = "I found no request in this, so I did nothing."
    said = "\n".join(f"• {b.esc(example)}" for example in examples)
    blocks = (
        [b.section(text), b.section(f"You could say, for example:\n{said}")] if said else [b.section(text)]
    )
    return b.message(text, [*blocks, b.context("`/countersign help` shows everything you can do.")])


def proposals(labels: Sequence[tuple[str, int, bool]], mark: str, *, answered: bool) -> b.Block:
    """What may have been meant: (label, number, whether it is shown rather than opened as a form)."""
    text = "Not this? You may have meant:" if answered else "Did you mean:"
    buttons = [
        b.button(label, f"{ids.SAY_LOOK if is_look else ids.SAY_REVIEW}:{number}", f"{mark}:{number}")
        for label, number, is_look in labels
    ]
    last = b.button("Something else", ids.SAY_ELSE, mark)
    shown = [b.section(text), b.actions([*buttons, last])]
    return b.message(": ".join([text.rstrip(":"), ", ".join(label for label, _, _ in labels)]), shown)


def noted(answer: b.Block, notes: Sequence[str]) -> b.Block:
    """An answer with what should be read beside it."""
    return b.message(answer["text"], [*_notes(notes), *answer["blocks"]]) if notes else answer


def _notes(notes: Sequence[str]) -> list[b.Block]:
    return [b.context(b.said(note)) for note in notes]
