"""Words of other languages that slip into an English sentence: `900 zurück from ads-eu`, `saldo of 3018`, `storno my last request`.

Only words with one meaning here, and only where the sentence around them is English: two of them at most, and no small word of
another language beside. A whole sentence of another language is none of these; it is answered that English is understood.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.plain_text import word_set

_WORDS: Final = {
    "unfreeze": "auftauen entsperren freischalten débloquer debloquer desbloquear deblokkeren odblokować sbloccare",
    "freeze": "einfrieren sperren bloquer bloquear blokkeren bloccare zablokować",
    "back": "zurück zurueck terug",
    "permanently": "endgültig endgueltig dauerhaft definitivement définitivement definitivamente definitief",
    "undo": "stornieren rückgängig",
    "balance": "saldo kontostand solde",
    "transactions": "umsätze umsaetze buchungen",
    "movements": "bewegungen movimientos mouvements",
    "declined": "abgelehnt rechazada refusée geweigerd",
    "why": "warum wieso waarom pourquoi",
    "markup": "aufschlag marge",
    "phone number": "handynr handynummer telefonnummer",
    "card": "karte kaart tarjeta cartão",
    "please": "bitte svp graag",
    "urgent": "dringend eilig spoed",
    "vacation": "urlaub vakantie",
}
_OURS: Final = {word: ours for ours, words in _WORDS.items() for word in words.split()}
_HINTS: Final = frozenset(_OURS)
_WORD: Final = re.compile(r"[^\W\d_]+")
#: Small words that make of it a sentence of another language.
_FOREIGN: Final = word_set(
    """
    der die das den dem des ein eine einen ich wir ist sind und für mit nicht kein keine von auf mein meine noch wird wurde wer was wie wo
    le la les du une pas je nous est sont avec sur mon ma que qui el los las una por con su mi está de het een niet met voor mijn wij ik
    il lo gli della del di che non per os um uma não meu minha jest są nie na się proszę
    """
)
_MOST: Final = 2


def in_english(text: str) -> str:
    """The text with such words in English; as it is where it has none, or too many."""
    words = [word.lower() for word in _WORD.findall(text)]
    borrowed = [word for word in words if word in _HINTS]
    if (
        not borrowed
        or len(borrowed) > _MOST
        or len(borrowed) * 2 > len(words) + 1
        or _FOREIGN.intersection(words)
    ):
        return text
    return _WORD.sub(lambda found: _OURS.get(found[0].lower(), found[0]), text)


__all__ = ["in_english"]
