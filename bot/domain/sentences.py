"""Sentences that are put together: what somebody wrote, and what follows it."""

from __future__ import annotations

# What is shown in place of signs that Slack takes for markup, and what they were. A word joiner takes powers away.
SHOWN_FOR = {"*": "∗", "~": "∼", "_": "▁", "`": "‵"}
_AS_WRITTEN = str.maketrans({**{shown: sign for sign, shown in SHOWN_FOR.items()}, "\N{WORD JOINER}": None})
_NOT_CODE = str.maketrans({"`": SHOWN_FOR["`"]})


#: Letters, signs and marks by their class, of which a reader sees nothing: fillers of Hangul and Khmer, the empty
#: Braille sign, a joiner of marks, Mongolian selectors, a filler of Khitan, and a note without a head.
UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00016fe4\U0001d159"
)


class Lines(str):
    """A text of ours with line breaks, which `quoted` leaves as it is."""

    __slots__ = ()


def quoted(text: str) -> str:
    """Words of others for within a sentence of ours: in one line, without backticks, so that they begin nothing."""
    return text if isinstance(text, Lines) else " ".join(text.split()).translate(_NOT_CODE)


def with_stop(text: str) -> str:
    """The text with the full stop that it may lack, since another sentence follows it. Nothing stays nothing."""
    text = text.rstrip()
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."


def as_written(shown: str) -> str:
    """What was copied from one of our messages, as it was before the message took the power of its signs away."""
    return shown.translate(_AS_WRITTEN)
