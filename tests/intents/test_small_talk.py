"""Greetings, thanks and other languages; names with accents and English sentences are none of them."""

import pytest

from bot.intents import GREETING, OTHER_LANGUAGE, THANKS, small_talk
from tests.intents.test_public_texts import DATA, public_texts
from tests.support.utterances import utterances


@pytest.mark.parametrize(
    "text", ["hi", "Hello there!", "hey team :wave:", "Good morning, how are you?", "hi <@U0BOT>"]
)
def test_a_greeting_alone_is_a_greeting(text: str) -> None:
    assert small_talk(text) == GREETING


@pytest.mark.parametrize(
    "text", ["thanks!", "ok great, thank you so much", "thx", "perfect, thanks for the help", "cheers"]
)
def test_thanks_alone_are_thanks(text: str) -> None:
    assert small_talk(text) == THANKS


@pytest.mark.parametrize(
    "text",
    [
        "¿cuánto saldo tiene la tarjeta de Sofía?",
        "puedes bloquear la tarjeta por favor",
        "quel est le solde de la carte de Marta",
        "wie viel Guthaben ist auf der Karte 3205",
        "bitte die Karte von Jonas sperren",
        "quanto saldo há no cartão do Jonas",
        "ile jest na karcie Marty",
        "hoeveel staat er op de kaart",
        "заблокируйте карту 3205 пожалуйста",
        "カードの残高を教えてください",
        "كم الرصيد في البطاقة",
    ],
)
def test_a_sentence_in_another_language_is_one(text: str) -> None:
    assert small_talk(text) == OTHER_LANGUAGE


@pytest.mark.parametrize(
    "text",
    [
        "Sofía",
        "Jonas Ählström",
        "José de la Cruz",
        "María del Carmen",
        "Tomás Rivera's card",
        "Ludwig van der Berg",
        "Café de la Gare",
        "Übersee Müller GmbH",
        "freeze the card of Żaneta Wójcik",
        "who is Владимир",
        "is the Zürich office card ok",
        "card for Jean-François du Plessis",
        "lunch at Le Pain Quotidien",
        "die card is kaputt",
        "hi, can you freeze 3018",
        "thanks, and freeze 3018 too",
        "morning meeting moved",
    ],
)
def test_a_name_with_an_accent_and_english_with_a_request_are_no_small_talk(text: str) -> None:
    assert small_talk(text) == ""


def test_none_of_our_english_utterances_is_another_language() -> None:
    said = [one.text for part in ("dev", "held_out") for one in utterances(part)]

    assert [text for text in said if small_talk(text) == OTHER_LANGUAGE] == []


@pytest.mark.skipif(not DATA.exists(), reason="the public texts (data/nlu) are not on this machine")
def test_none_of_10651_english_texts_of_strangers_is_another_language() -> None:
    assert [text for text, _ in public_texts() if small_talk(text) == OTHER_LANGUAGE] == []
