"""The optional language model: where the grammar found nothing, it may propose what was meant. Off by default.

It never sees a name, a number or an address: those leave as placeholders. What it proposes is an intent and
quoted pieces of the text. A piece that does not stand there literally is a lie, and the proposal is dropped; the
rest is put into a sentence of ours and read by our own readers, so nothing is understood that they do not
understand. A read may be answered so; of an action at most "did you mean …?" is asked. Numbers never come from it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import intents
from bot.intents import ACTIONS, EXAMPLES, Ask, Facts, Option, Reading
from bot.partner.secret import Secret

log = logging.getLogger("countersign.language_model")

TIMEOUT_S = 3.0
_MOST_ANSWER = 20_000
_MOST_TOKENS = 300

# What may be proposed -> the sentence in which our readers read it, once its pieces are in.
_TEMPLATES: Final = {intent: example.template for intent, example in EXAMPLES.items() if example.template}
_PIECES: Final = frozenset({"card", "amount", "period", "status", "hash", "network"})
_PIECE = re.compile(r"\{(\w+)\}")
_OPTIONAL = re.compile(r"\[([^\]]*)\]")
_EMAIL = re.compile(r"[^\s@<>|]+@[^\s@<>|]+")
_HASH = re.compile(r"0[xX][0-9a-fA-F…]{4,}")
_NUMBER = re.compile(r"[+$€£]?[0-9][0-9.,\u00a0 ]*[0-9kK%]|[0-9]")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")

_SYSTEM = (
    "You sort short messages of a card operations team. Answer with one JSON object and nothing else:"
    ' {"intent": one of the intents below or "none", "pieces": {name: text}}. Copy every piece character by character'
    " out of the message; leave out what is not in it. Placeholders such as NUMBER1 or NAME1 stand for hidden values:"
    ' copy them as they are. Names of pieces: card, amount, period, status, hash, network. Say "none" when in doubt.'
    " Intents: "
)


class Proposal(BaseModel):
    """What the model may answer; anything else is no answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    intent: str = Field(max_length=40)
    pieces: dict[Literal["card", "amount", "period", "status", "hash", "network"], str] = Field(
        default_factory=dict, max_length=len(_PIECES)
    )


@dataclass(frozen=True, slots=True)
class Hidden:
    """A text with placeholders, and what each of them stands for."""

    text: str
    stands_for: Mapping[str, str]

    def revealed(self, piece: str) -> str:
        """A quoted piece with its values again."""
        for name in sorted(self.stands_for, key=len, reverse=True):
            piece = piece.replace(name, self.stands_for[name])
        return piece


def hide(text: str, facts: Facts) -> Hidden:
    """Put placeholders for names, numbers and addresses."""
    stands_for: dict[str, str] = {}
    taken: dict[str, int] = {}

    def put(kind: str, found: str) -> str:
        taken[kind] = taken.get(kind, 0) + 1
        name = f"{kind}{taken[kind]}"
        stands_for[name] = found
        return name

    for kind, pattern in (("ADDRESS", _EMAIL), ("HASH", _HASH), ("NUMBER", _NUMBER)):
        text = pattern.sub(partial(_placed, put, kind), text)
    known = {
        word.casefold() for card in facts.cards for word in _WORD.findall(f"{card.holder} {card.partner_ref}")
    }
    begins = _WORD.search(text)

    def name(found: re.Match[str]) -> str:
        word = found[0]
        if word in stands_for:
            return word
        bare = re.sub(r"['’]s$", "", word)
        is_first = begins is not None and found.start() == begins.start()
        if bare.casefold() in known or (bare[:1].isupper() and not is_first and bare != "I"):
            return put("NAME", bare) + word[len(bare) :]
        return word

    return Hidden(_WORD.sub(name, text), stands_for)


def _placed(put: Callable[[str, str], str], kind: str, found: re.Match[str]) -> str:
    return put(kind, found[0])


class LanguageModel:
    """A `bot.services.conversation.Guess` over a chat-completions address."""

    def __init__(
        self,
        url: str,
        model: str,
        key: Secret | None,
        *,
        client: httpx.AsyncClient,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._url = url
        self._model = model
        self._key = key
        self._client = client
        self._timeout_s = timeout_s

    async def __call__(self, text: str, facts: Facts) -> Reading | None:
        """The read that is probably meant, or a question; None where there is nothing to propose."""
        read = intents.clean(text, facts.our_id)
        if read.guarded or read.doubts or read.too_long or not read.text.strip():
            return None
        hidden = hide(read.text, facts)
        proposal = await self._asked(hidden.text)
        if proposal is None:
            return None
        return _checked(proposal, hidden, facts)

    async def _asked(self, text: str) -> Proposal | None:
        """One call; whatever goes wrong with it, the conversation goes on without."""
        try:
            content = await self._completion(text)
            return Proposal.model_validate_json(content, strict=True)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            log.info("model.not_reached", extra={"error": type(error).__name__})
        except (ValueError, KeyError, IndexError, TypeError, ValidationError) as error:
            log.info("model.not_usable", extra={"error": type(error).__name__})
        return None

    async def _completion(self, text: str) -> str:
        """The text of the answer. Raises httpx.HTTPError, and what reading a wrong shape raises."""
        body: dict[str, Any] = {
            "model": self._model,
            "temperature": 0,
            "max_tokens": _MOST_TOKENS,
            "response_format": {"type": "json_object"},
            "messages": [
                {"role": "system", "content": _SYSTEM + ", ".join(_TEMPLATES)},
                {"role": "user", "content": text},
            ],
        }
        headers = {"Authorization": f"Bearer {self._key.reveal()}"} if self._key else {}
        # httpx counts each of its waits by itself; this one is for all of it.
        async with asyncio.timeout(self._timeout_s):
            answer = await self._client.post(self._url, json=body, headers=headers)
        answer.raise_for_status()
        if len(answer.content) > _MOST_ANSWER:
            raise ValueError("the answer is too long")
        content = json.loads(answer.content)["choices"][0]["message"]["content"]
        if not isinstance(content, str):
            raise TypeError("the answer isn't text")
        return content

    async def fault(self) -> str | None:
        """What is wrong with the address, key or model, tried with a sentence of ours; None when nothing is."""
        try:
            Proposal.model_validate_json(await self._completion("how much do we have left"), strict=True)
        except httpx.HTTPStatusError as error:
            return (
                f"it answers {error.response.status_code}. Check the address, the model's name and the key."
            )
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            return f"it cannot be reached within {self._timeout_s:g} s ({type(error).__name__})."
        except (ValueError, KeyError, IndexError, TypeError):
            return "its answer is not of the form that is needed: it may be too small a model."
        return None


@asynccontextmanager
async def connected(url: str, model: str, key: Secret | None) -> AsyncIterator[LanguageModel]:
    """The model at this address, with an HTTP client of its own until the block ends."""
    async with httpx.AsyncClient() as client:
        yield LanguageModel(url, model, key, client=client)


async def fault_of(url: str, model: str, key: Secret | None) -> str | None:
    """What keeps a model from being used; None when it answers as it should."""
    async with connected(url, model, key) as found:
        return await found.fault()


def _checked(proposal: Proposal, hidden: Hidden, facts: Facts) -> Reading | None:
    """Our own readers' word on what was proposed; None where a piece is made up or they read something else."""
    template = _TEMPLATES.get(proposal.intent)
    if template is None or any(piece not in hidden.text for piece in proposal.pieces.values()):
        return None
    pieces: dict[str, str] = {
        name: hidden.revealed(piece) for name, piece in proposal.pieces.items() if piece.strip()
    }
    sentence = _filled(template, pieces)
    if sentence is None:
        return None
    (reading, *others) = intents.parse(sentence, facts).readings
    if others or proposal.intent not in (reading.intent, reading.wanted):
        return None
    if "card" in pieces and "card" not in reading.slots and not (reading.ask and reading.ask.options):
        return None  # what was called a card is none
    if proposal.intent not in ACTIONS:
        return reading
    question = f"Did you mean: {sentence}?"
    return Reading("ambiguous", ask=Ask("meaning", question, (Option(sentence, "Yes, that"),)))


def _filled(template: str, pieces: Mapping[str, str]) -> str | None:
    """The sentence with its pieces; None where one that it needs is missing."""

    def optional(found: re.Match[str]) -> str:
        names = _PIECE.findall(found[1])
        return found[1] if all(name in pieces for name in names) else ""

    chosen = _OPTIONAL.sub(optional, template)
    if any(name not in pieces for name in _PIECE.findall(chosen)):
        return None
    return _PIECE.sub(lambda found: pieces[found[1]], chosen)
