"""Texts that ask for nothing: a greeting, thanks, or a sentence in another language.

Used only where no request and no question was understood. A text is in another language by its letters, or by several
small words of one language that are no English ones: a name with an accent is never enough.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from bot.intents.model import GREETING, OTHER_LANGUAGE, THANKS
from bot.intents.plain_text import word_set

_ADDRESSED: Final = (
    r"(?:[\s,]+(?:there|all|team|everyone|folks|guys|bot|countersign|again|you|both|mate|man|friend|how are you(?:"
    r" doing)?"
    r"(?: today)?|how(?:'s| is) it going|how do you do|happy (?:monday|tuesday|wednesday|thursday|friday)))*"
)
_GREETING: Final = re.compile(
    r"^(?:hi+|hey+|hello+|hiya|howdy|yo|heya|hallo|greetings|good (?:morning|afternoon|evening|day)|g'?day|morning"
    r"|afternoon"
    rf"|evening|how are you(?: doing)?(?: today)?|what'?s up|sup){_ADDRESSED}[\s.,!?:)(-]*$"
)
_THANKS: Final = re.compile(
    r"^(?:(?:ok|okay|great|perfect|cool|nice|awesome|super|brilliant|lovely|got it|all good|that'?s (?:it|all|great"
    r"|perfect)|good"
    r" (?:job|bot|work)|well done|done)[\s,.!]*)*(?:(?:many |much )?thanks?(?: (?:a lot|so much|again|very much|a"
    r" million"
    r"|you(?: (?:so much|very much|a lot))?|for (?:the|your) (?:help|info|update|quick \w+)|for that))?|thx|ty|tysm"
    r"|cheers"
    r"|much appreciated|appreciate (?:it|that|you)|great|perfect|cool|awesome|good (?:job|bot|work)|well done|bye"
    r"|goodbye"
    r"|see you(?: later| tomorrow)?|have a (?:good|great|nice) (?:one|day|evening|weekend))"
    r"[\s,.!:)(-]*(?:countersign|bot|team|all|everyone|mate|you|thanks|cheers|bye)?[\s.,!:)(-]*$"
)
# Small words of a language that are neither English words nor names.
_LANGUAGES: Final = tuple(
    word_set(words)
    for words in (
        "el los las una unos del por para con que qué cuánto cuanto cuál cual cómo donde dónde está estan están"
        " esta tarjeta"
        " saldo tengo puedes puede hola gracias quiero necesito dinero mi su hay por favor cuenta bloquear recargar"
        " buenos"
        " días dias buenas tardes hoy ayer",
        "le la les des une du est sont avec pour dans sur que qui quel quelle combien où pas je vous nous carte"
        " solde bonjour"
        " merci peux pouvez bloquer recharger argent s'il plaît plait mon ma cette ça ai avez salut compte"
        " aujourd'hui hier",
        "der die das den dem ein eine einen ist sind und mit für von auf nicht wie viel wieviel karte guthaben"
        " bitte ich wir"
        " kannst können sperren aufladen danke hallo geld wer hat warum wurde noch mein meine heute gestern welche"
        " moin guten"
        " morgen",
        "il lo gli una della del di che con per non quanto come dove è sono carta saldo ciao grazie vorrei puoi"
        " bloccare"
        " ricaricare soldi mia questa buongiorno oggi ieri sulla",
        "o os as um uma do da dos das com para por não que qual quanto onde está são cartão saldo olá obrigado"
        " obrigada quero"
        " preciso bloquear carregar dinheiro meu minha hoje ontem bom dia você",
        "de het een van met voor niet hoeveel wat waar wie kaart saldo hoi dank je wel graag kun kan blokkeren"
        " opwaarderen"
        " geld mijn deze vandaag gisteren goedemorgen alstublieft staat ik",
        "jest nie ile na karcie karta kartę saldo proszę dziękuję cześć dzień dobry mogę czy jak gdzie zablokuj doładuj"
        " pieniądze moja dlaczego została",
        "kart kartı bakiye ne kadar merhaba teşekkürler lütfen dondur yükle neden bir ve için nasıl",
    )
)
_ENGLISH: Final = word_set(
    "the a an is are was were be to of on in at for with and or not what how much many who why when where which"
    " please can"
    " could would will do does did has have had my me i you we us our your his her their it its this that from by"
    " up off out"
    " as so no yes if but there here card cards balance float limit freeze load top spent spend pending request"
    " requests"
    " show list tell give get put take money hi hello thanks"
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# So many of a language's small words, and more of them than of English ones.
_ENOUGH: Final = 2
# A word or a name in other letters is no sentence.
_LETTERS_ENOUGH: Final = 6


def small_talk(text: str) -> str:
    """`greeting`, `thanks`, `other language`, or empty where the text is none of them."""
    plain = " ".join(text.replace("’", "'").lower().split())
    bare = re.sub(r"(?:<@[^>]*>|:[a-z0-9_+-]+:|[^\w\s'.,!?:;()-])", " ", plain).strip()
    bare = " ".join(bare.split())
    if _GREETING.match(bare):
        return GREETING
    if _THANKS.match(bare):
        return THANKS
    return OTHER_LANGUAGE if is_other_language(plain) else ""


def is_other_language(text: str) -> bool:
    """Whether a text is a sentence of another language than English. Careful: in doubt it is English."""
    letters = [char for char in text if char.isalpha()]
    foreign = sum(not _is_latin(char) for char in letters)
    words = _WORD.findall(text.lower())
    english = sum(word in _ENGLISH for word in words)
    in_other_letters = sum(not all(_is_latin(char) for char in word if char.isalpha()) for word in words)
    if foreign >= _LETTERS_ENOUGH and foreign * 2 > len(letters) and in_other_letters > english:
        return True
    small = max(len({word for word in words if word in language}) for language in _LANGUAGES)
    both = max(len({w for w in words if w in language and w in _ENGLISH}) for language in _LANGUAGES)
    return small - both >= _ENOUGH and small > english and small * 3 >= len(words)


def _is_latin(char: str) -> bool:
    return char.isascii() or unicodedata.name(char, "").startswith("LATIN")
