"""The optional language model: a liar, a slow one and a broken one change nothing; a good one only proposes."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from bot.config import Config, ConfigError, Model
from bot.intents import EXAMPLES, Facts, KnownCard, parse
from bot.language_model import LanguageModel, fault_of, hide
from bot.partner.secret import Secret

Json = dict[str, Any]
KEY = "model-key-that-nobody-may-read"
FACTS = Facts(
    now=datetime(2026, 3, 2, 9, 0, tzinfo=UTC),
    tz="Europe/Berlin",
    cards=(
        KnownCard("3018", "INES OKONKWO", "emp-7", "card-1", "ACTIVE"),
        KnownCard("9140", "NORA LIND", "", "card-2", "ACTIVE"),
    ),
)


@dataclass
class FakeModel:
    """Answers every completion with `says`, after `seconds`; keeps what it was asked."""

    url: str = ""
    says: Any = ""
    status: int = 200
    seconds: float = 0.0
    asked: list[Json] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def complete(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.json())
        self.keys.append(request.headers.get("Authorization", ""))
        await asyncio.sleep(self.seconds)
        said = self.says if isinstance(self.says, str) else json.dumps(self.says)
        return web.json_response({"choices": [{"message": {"content": said}}]}, status=self.status)

    def user_text(self) -> str:
        return str(self.asked[-1]["messages"][-1]["content"])


@asynccontextmanager
async def serving() -> AsyncIterator[FakeModel]:
    model = FakeModel()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", model.complete)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    model.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1/chat/completions"
    try:
        yield model
    finally:
        await runner.cleanup()


@pytest.fixture
async def model() -> AsyncIterator[FakeModel]:
    async with serving() as found:
        yield found


Guess = Callable[[str], Awaitable[Any]]


@pytest.fixture
async def guess(model: FakeModel) -> AsyncIterator[Guess]:
    async with httpx.AsyncClient(trust_env=False) as client:
        asked = LanguageModel(model.url, "small", Secret(KEY), client=client, timeout_s=0.5)
        yield lambda text: asked(text, FACTS)


async def test_a_read_is_taken_when_its_pieces_stand_in_the_text_and_our_readers_agree(
    model: FakeModel, guess: Guess
) -> None:
    model.says = {"intent": "card_balance", "pieces": {"card": "NUMBER1"}}

    found = await guess("what has 3018 got left on it these days, roughly speaking")

    assert found is not None
    assert found.intent == "card_balance"
    assert found.card is not None
    assert found.card.id == "card-1"


async def test_of_an_action_it_may_only_ask_whether_that_was_meant(model: FakeModel, guess: Guess) -> None:
    model.says = {"intent": "freeze_card", "pieces": {"card": "NUMBER1"}}

    found = await guess("put 3018 on ice will ya")

    assert found is not None
    assert (found.intent, found.opened, found.slots) == ("ambiguous", False, {})
    assert [option.value for option in found.ask.options] == ["freeze card 3018"]


@pytest.mark.parametrize(
    "says",
    [
        {"intent": "card_balance", "pieces": {"card": "9140"}},  # not in the text
        {"intent": "topup_card", "pieces": {"card": "NUMBER1", "amount": "5000"}},  # a number of its own
        {"intent": "card_balance", "pieces": {"card": "what has"}},  # no card, whatever it says
        {"intent": "card_balance", "pieces": {}},
        {"intent": "approve_request", "pieces": {}},
        {"intent": "card_balance", "pieces": {"card": "NUMBER1"}, "approve": True},
        {"intent": "float_status", "answer": "You have 1,000,000 USD"},
        {"intent": "none", "pieces": {}},
        "I think you want the balance of 3018.",
        "",
        "[1, 2]",
        "{",
    ],
)
async def test_a_model_that_lies_or_talks_is_not_believed(model: FakeModel, guess: Guess, says: Any) -> None:
    model.says = says

    assert await guess("what has 3018 got left on it") is None


async def test_names_numbers_and_addresses_never_leave(model: FakeModel, guess: Guess) -> None:
    model.says = {"intent": "none"}

    await guess(
        "Ask Ines or Hugo at ines@example.com, +49 151 12345678, about 250.50 for 3018 and 0xabcdef12"
    )

    for private in ("Ines", "Hugo", "example", "151", "250", "3018", "abcdef"):
        assert private not in model.user_text(), private
    assert "NAME1" in model.user_text()
    assert KEY in model.keys[0]
    assert KEY not in json.dumps(model.asked)


async def test_a_text_with_a_card_number_or_of_many_pages_is_not_sent(model: FakeModel, guess: Guess) -> None:
    assert await guess("what is with 4242 4242 4242 4242") is None
    assert await guess("what " * 1000) is None
    assert model.asked == []


async def test_a_slow_broken_or_absent_model_changes_nothing_and_is_not_quoted_in_the_log(
    model: FakeModel, guess: Guess, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    text = "say something secretive"
    model.says = {"intent": "float_status", "pieces": {}}
    model.status = 500
    assert await guess(text) is None
    model.status, model.seconds = 200, 5.0
    assert await guess(text) is None
    async with httpx.AsyncClient(trust_env=False) as client:
        nowhere = LanguageModel("http://127.0.0.1:9/v1/chat/completions", "small", None, client=client)
        assert await nowhere(text, FACTS) is None

    ours = "".join(str(vars(record)) for record in caplog.records if record.name.startswith("countersign"))
    assert "secretive" not in ours
    assert KEY not in ours


async def test_the_doctor_tells_what_is_wrong_with_it(model: FakeModel) -> None:
    model.says = {"intent": "float_status", "pieces": {}}
    assert await fault_of(model.url, "small", None) is None
    model.says = "no idea"
    assert "not of the form" in str(await fault_of(model.url, "small", None))
    model.status = 401
    assert "401" in str(await fault_of(model.url, "small", None))


TOML = (Path(__file__).parents[2] / "countersign.toml").read_bytes()


def _with(url: str, model: str) -> bytes:
    return TOML.replace(b'url = ""   ', f'url = "{url}" '.encode()).replace(
        b'model = ""', f'model = "{model}"'.encode()
    )


def test_it_is_off_by_default_and_on_with_an_address_and_a_name() -> None:
    assert Config.parse(TOML).model is None

    found = Config.parse(_with("https://models.example.com/v1/chat/completions", "small")).model
    assert found == Model("https://models.example.com/v1/chat/completions", "small")


@pytest.mark.parametrize(
    ("url", "model", "said"),
    [
        ("https://models.example.com/v1/chat/completions", "", "language_model.model is needed"),
        (
            "http://models.example.com/v1/chat/completions",
            "small",
            "language_model.url must be an https address",
        ),
        ("https://models.example.com/v1", "small", "ends in /chat/completions"),
    ],
)
def test_a_wrong_setting_is_named(url: str, model: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Config.parse(_with(url, model))


def test_what_is_hidden_comes_back_as_it_was() -> None:
    hidden = hide("give Ines 50 on 3018", FACTS)

    assert hidden.text == "give NAME1 NUMBER1 on NUMBER2"
    assert hidden.revealed("NAME1 NUMBER1 NUMBER2") == "Ines 50 3018"


def test_every_sentence_is_read_as_what_it_is_proposed_for() -> None:
    values = {
        "card": "3018", "amount": "20", "period": "this week", "status": "frozen",
        "hash": "0x" + "ab" * 32, "network": "BNB",
    }  # fmt: skip
    templates = {intent: example.template for intent, example in EXAMPLES.items() if example.template}
    assert len(templates) == 20
    for intent, template in templates.items():
        sentence = template.replace("[", "").replace("]", "").format(**values)

        assert parse(sentence, FACTS).first.intent == intent, sentence
