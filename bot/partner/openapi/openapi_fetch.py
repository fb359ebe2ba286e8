"""The card provider's own description of itself: fetching it, and reading the JSON Schemas in it.

It is fetched without the key and outside the rate budget: it is for everybody, and the one call that
cannot do anything [Versioning].
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from bot.partner.endpoints import RECORD_READ_SECONDS
from bot.partner.http_library import httpx
from bot.partner.key_guard import public_address
from bot.partner.loopback import is_loopback

MOST_BYTES = 5 * 1024 * 1024
_LONGEST_CHAIN = 32
_DEEPEST = 6


class NoDescription(Exception):
    """The description could not be read; says what to look at. Nothing was changed by trying."""


async def fetch(base_url: str, *, transport: httpx.AsyncBaseTransport | None = None) -> dict[str, Any]:
    """`{base_url}/openapi.json` as a value. Raises NoDescription, and AccessRefused for a bad address."""
    url = f"{public_address(base_url)}/openapi.json"
    trust_env = not is_loopback(httpx.URL(url).host)
    try:
        async with (
            asyncio.timeout(RECORD_READ_SECONDS),
            httpx.AsyncClient(transport=transport, trust_env=trust_env, follow_redirects=False) as http,
            http.stream("GET", url, headers={"Accept": "application/json"}) as response,
        ):
            raw = bytearray()
            async for piece in response.aiter_bytes():
                raw += piece
                if len(raw) > MOST_BYTES:
                    raise NoDescription("The description of the API is larger than any should be.")
    except TimeoutError:
        raise NoDescription("The description of the API did not arrive in time.") from None
    except (httpx.HTTPError, OSError) as failure:
        raise NoDescription(
            f"The description of the API could not be fetched: {type(failure).__name__}."
        ) from None
    if response.status_code != 200:
        raise NoDescription(f"Your card provider answered {response.status_code} instead of its description.")
    return _object(bytes(raw))


def _object(raw: bytes) -> dict[str, Any]:
    # Not the codec of answers: no amounts are in here, and a pattern may well name the NUL it forbids.
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise NoDescription("What your card provider gives as its description isn't a JSON object.")
    return value


@dataclass(frozen=True, slots=True)
class Described:
    """What a JSON Schema says of a value. No `kinds` means that it says nothing of its kind."""

    kinds: frozenset[str] = frozenset()
    nullable: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    items: Any = None
    values: tuple[str, ...] = ()
    closed: bool = False


class Reader:
    """Reads schemas of one description, following its references."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def read(self, schema: Any, depth: int = 0) -> Described:
        """What the schema says. Alternatives are laid together, since each of them may come."""
        node = self._target(schema)
        if not isinstance(node, dict) or depth > _DEEPEST:
            return Described()
        found = _own_words(node)
        for inner in _list(node.get("allOf")):
            found = _joined([found, self.read(inner, depth + 1)], of=frozenset.union)
        for word in ("anyOf", "oneOf"):
            choices = [self.read(inner, depth + 1) for inner in _list(node.get(word))]
            if choices:
                # A field is sure to come only if every alternative but null requires it.
                real = [choice for choice in choices if choice != Described(nullable=True)]
                either = _joined(real or choices, of=frozenset.intersection)
                either = replace(either, nullable=any(choice.nullable for choice in choices))
                found = _joined([found, either], of=frozenset.union)
        return found

    def member(self, node: Any, *names: str) -> Any:
        """What is inside, name by name, references followed; an empty mapping where there is nothing."""
        for name in names:
            node = _mapping(self._target(node)).get(name)
        return self._target(node) if node is not None else {}

    def _target(self, node: Any) -> Any:
        """The node, or what its local reference leads to; the words beside a reference are kept."""
        for _ in range(_LONGEST_CHAIN):
            if not isinstance(node, dict) or not isinstance(node.get("$ref"), str):
                return node
            beside = {name: item for name, item in node.items() if name != "$ref"}
            node = self._lookup(node["$ref"])
            if isinstance(node, dict):
                node = {**node, **beside}
        return {}

    def _lookup(self, reference: str) -> Any:
        place, _, path = reference.partition("#/")
        node: Any = {} if place else self._root
        for name in path.split("/"):
            node = _mapping(node).get(name.replace("~1", "/").replace("~0", "~"))
        return node


def _own_words(node: Mapping[str, Any]) -> Described:
    stated = node.get("type")
    kinds = {stated} if isinstance(stated, str) else set(_words(stated))
    words = [*_list(node.get("enum")), *([node["const"]] if "const" in node else [])]
    return Described(
        kinds=frozenset(kinds - {"null"}),
        nullable="null" in kinds or node.get("nullable") is True or None in words,
        fields=_mapping(node.get("properties")),
        required=frozenset(_words(node.get("required"))),
        items=node.get("items"),
        values=tuple(dict.fromkeys(_words(words))),
        closed=node.get("additionalProperties") is False,
    )


def _joined(parts: Sequence[Described], *, of: Callable[..., frozenset[str]]) -> Described:
    """What all the parts say together; what is required is joined by `of`."""
    fields: dict[str, Any] = {}
    for part in parts:
        for name, schema in part.fields.items():
            fields[name] = {"allOf": [fields[name], schema]} if name in fields else schema
    return Described(
        kinds=frozenset().union(*(part.kinds for part in parts)),
        nullable=any(part.nullable for part in parts),
        fields=fields,
        required=of(*(part.required for part in parts)),
        items=next((part.items for part in parts if part.items is not None), None),
        values=tuple(dict.fromkeys(word for part in parts for word in part.values)),
        closed=any(part.closed for part in parts),
    )


def _words(value: Any) -> list[str]:
    return [item for item in _list(value) if isinstance(item, str)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
