"""From a text to an intent or a question. Pure: text and facts in, a reading out.

A wrong read costs a message, a wrong action costs money. So reads are understood generously, and an action
only where the whole text says it, once and without doubt; even then all that follows is a form to check.

`parser` leads a text through the rooms: `plain_text` (markup and clauses), `extraction` (cards, amounts, periods and
other values), `recognition` (what is asked for), `readings` (slots, checks, questions); `directory` has the cards and
their misspelt names. `model` has the values that come out; `examples` a sentence for each intent;
`no_request` knows greetings, thanks and other languages; `masking` leaves the values out of a text.

Whatever reads texts has hundreds of patterns, which take a tenth of a start: those modules are imported when one of
their names is first used, `load` uses them all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from bot.intents.examples import EXAMPLES
from bot.intents.model import (
    ACTIONS,
    GREETING,
    OTHER_LANGUAGE,
    THANKS,
    Ask,
    Facts,
    KnownCard,
    Option,
    Parsed,
    Reading,
    Suggestion,
    Thread,
)

if TYPE_CHECKING:
    from bot.intents.directory import Directory, find_misspelt_names, fold, names_spelled_nearly
    from bot.intents.extraction import reason_in
    from bot.intents.masking import masked
    from bot.intents.no_request import small_talk
    from bot.intents.parser import parse, read_by_rules
    from bot.intents.plain_text import clean
    from bot.intents.ranking import BUCKETS, NONE, NOT_MEANT, NOT_OFFERED, WEIGHTS, features_of
    from bot.intents.recognition import WhatIf, read_what_if

_READERS: Final = {
    "directory": ("Directory", "find_misspelt_names", "fold", "names_spelled_nearly"),
    "extraction": ("reason_in",),
    "masking": ("masked",),
    "no_request": ("small_talk",),
    "parser": ("parse", "read_by_rules"),
    "plain_text": ("clean",),
    "ranking": ("BUCKETS", "NONE", "NOT_OFFERED", "NOT_MEANT", "WEIGHTS", "features_of"),
    "recognition": ("WhatIf", "read_what_if"),
}

__all__ = [
    "ACTIONS",
    "BUCKETS",
    "EXAMPLES",
    "GREETING",
    "NONE",
    "NOT_MEANT",
    "NOT_OFFERED",
    "OTHER_LANGUAGE",
    "THANKS",
    "WEIGHTS",
    "Ask",
    "Directory",
    "Facts",
    "KnownCard",
    "Option",
    "Parsed",
    "Reading",
    "Suggestion",
    "Thread",
    "WhatIf",
    "clean",
    "features_of",
    "find_misspelt_names",
    "fold",
    "load",
    "masked",
    "names_spelled_nearly",
    "parse",
    "read_by_rules",
    "read_what_if",
    "reason_in",
    "small_talk",
]


def load() -> None:
    """Import whatever reads texts, so that the first text needs not wait for it."""
    for module in _READERS:
        import_module(f"{__name__}.{module}")


def __getattr__(name: str) -> Any:
    for module, names in _READERS.items():
        if name in names:
            return globals().setdefault(name, getattr(import_module(f"{__name__}.{module}"), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
