"""Where the card provider's own description and this client's knowledge part ways. Pure.

The document foretells additive changes without a new version: new fields, events and values harm
nobody here, but somebody may want to know. What an answer must have to be read, what a call must send,
and which refusals it can meet are another matter: there a difference will be met sooner or later.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.partner.calls import deposits as deposit_calls
from bot.partner.certainty import documented
from bot.partner.client import ENDPOINTS
from bot.partner.endpoints import Endpoint
from bot.partner.openapi.expected_schema import UNSHOWN, VERSION, event_data
from bot.partner.openapi.openapi_fetch import Described, Reader
from bot.partner.shapes import Sent, Shape

_METHODS = ("get", "post", "put", "patch", "delete")
_BASE_PATH = "/api/partner/v1"
_REFUSED = re.compile(r"[45][0-9]{2}")


class Weight(StrEnum):
    """What a difference leads to."""

    BREAKS = "breaks"  # a call or its answer will fail
    CHANGES = "changes"  # everything goes on, but something is understood less well
    ADDS = "adds"  # something new that nothing here uses


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: where (an endpoint, and a place in it), and a sentence for a person."""

    weight: Weight
    place: str
    says: str


def compare(openapi: Mapping[str, Any]) -> list[Difference]:
    """Every difference that matters, the gravest first; none when the description says what we know.

    Takes any JSON object. One that describes no endpoint is itself a difference.
    """
    gravest = list(Weight)
    found = set(_Comparison(openapi).run())
    return sorted(found, key=lambda one: (gravest.index(one.weight), one.place, one.says))


class _Comparison:
    """One description, read once."""

    def __init__(self, openapi: Mapping[str, Any]) -> None:
        self._root = openapi
        self._reader = Reader(openapi)

    def run(self) -> Iterator[Difference]:
        operations = self._operations()
        if not operations:
            yield Difference(Weight.BREAKS, "openapi.json", "It describes no endpoint at all.")
            return
        version = self._reader.member(self._root, "info", "version")
        if version != VERSION:
            yield Difference(
                Weight.CHANGES, "openapi.json", f"Its version is {_word(version)}, not {VERSION}."
            )
        known = {_plain(endpoint.value): endpoint for endpoint in ENDPOINTS}
        for name, endpoint in known.items():
            if name in operations:
                yield from self._endpoint(endpoint, operations[name])
            else:
                yield Difference(Weight.BREAKS, endpoint.value, "This endpoint is not described any more.")
        for name in operations.keys() - known.keys():
            yield Difference(Weight.ADDS, name, "A new endpoint.")
        yield from self._events()

    def _operations(self) -> dict[str, Any]:
        """By method and path, the names of path parameters left out."""
        found = {}
        paths = self._reader.member(self._root, "paths")
        for path in paths if isinstance(paths, dict) else ():
            for method in _METHODS:
                operation = self._reader.member(paths, path, method)
                if operation:
                    found[_plain(f"{method.upper()} {path.removeprefix(_BASE_PATH)}")] = operation
        return found

    def _endpoint(self, endpoint: Endpoint, operation: Any) -> Iterator[Difference]:
        if endpoint is not deposit_calls.QUOTE_DEPOSIT:
            yield from self._request(endpoint, operation, endpoint.sent)
        yield from self._success(endpoint, operation, endpoint.shape)
        yield from self._refusals(endpoint, operation)

    # What goes out

    def _request(self, endpoint: Endpoint, operation: Any, sent: Sent) -> Iterator[Difference]:
        place = endpoint.value
        listed = self._reader.member(operation, "parameters")
        parameters = [self._reader.member(item) for item in listed] if isinstance(listed, list) else []
        by_place = {
            (str(item.get("in")), str(item.get("name"))): item
            for item in parameters
            if isinstance(item, dict)
        }
        for (where, name), item in by_place.items():
            ours = name in sent.query if where == "query" else name == "Idempotency-Key" and sent.keyed
            if where in ("query", "header") and item.get("required") is True and not ours:
                yield Difference(Weight.BREAKS, place, f"It requires the {where} parameter {_word(name)}.")
        for name in sent.query:
            if ("query", name) not in by_place:
                yield Difference(
                    Weight.CHANGES, place, f"The query parameter {name} is not described any more."
                )
        if sent.keyed and ("header", "Idempotency-Key") not in by_place:
            yield Difference(
                Weight.BREAKS, place, "It is not said to take an Idempotency-Key: a repeat may act twice."
            )
        yield from self._body(endpoint, operation, sent)

    def _body(self, endpoint: Endpoint, operation: Any, sent: Sent) -> Iterator[Difference]:
        body = self._reader.read(self._content(operation, "requestBody"))
        for name in sorted(body.required - sent.body.keys()):
            yield Difference(
                Weight.BREAKS, endpoint.value, f"Its body requires {_word(name)}, which is not sent."
            )
        for name, kind in sent.body.items():
            place = f"{endpoint.value} body.{name}"
            if name not in body.fields:
                weight = Weight.BREAKS if body.closed else Weight.CHANGES
                yield Difference(weight, place, "This field of the body is not described.")
                continue
            kinds = self._reader.read(body.fields[name]).kinds
            if kinds and kind not in kinds and not (kind == "integer" and "number" in kinds):
                yield Difference(Weight.BREAKS, place, f"It is to be {_kinds(kinds)}, not {kind}.")

    # What comes back

    def _success(self, endpoint: Endpoint, operation: Any, shape: Shape) -> Iterator[Difference]:
        for status in ("200", "201"):
            schema = self._content(operation, "responses", status)
            data = self._reader.read(schema).fields.get("data")
            if data is None:
                continue
            if endpoint in UNSHOWN:
                data = self._somewhere_in(data, shape)
            yield from self._value(f"{endpoint.value} data", shape, data)
            return
        yield Difference(Weight.BREAKS, endpoint.value, "No success with `data` is described.")

    def _somewhere_in(self, data: Any, shape: Shape) -> Any:
        """The part of the answer that is of the wanted kind: the envelope is not shown."""
        described = self._reader.read(data)
        fields = set(shape.fields or ())
        for candidate in (data, *described.fields.values()):
            inner = self._reader.read(candidate)
            if shape.items is not None and inner.items is not None:
                return candidate
            if fields & inner.fields.keys():
                return candidate
        return data

    def _value(self, place: str, shape: Shape, schema: Any) -> Iterator[Difference]:
        described = self._reader.read(schema)
        if not described.kinds <= shape.kinds:
            others = _kinds(described.kinds - shape.kinds)
            yield Difference(Weight.BREAKS, place, f"It may be {others}; we read {_kinds(shape.kinds)}.")
            return
        if described.nullable and not shape.nullable:
            yield Difference(Weight.BREAKS, place, "It may be null.")
        if shape.values:
            for word in described.values:
                if word not in shape.values:
                    yield Difference(Weight.ADDS, place, f"A new value: {_word(word)}.")
        if shape.items is not None and described.items is not None:
            yield from self._value(f"{place}[]", shape.items, described.items)
        if shape.fields is not None and described.fields:
            yield from self._fields(place, shape.fields, described)

    def _fields(self, place: str, known: Mapping[str, Shape], described: Described) -> Iterator[Difference]:
        for name, shape in known.items():
            inner = f"{place}.{name}"
            if name in described.fields:
                if shape.required and name not in described.required:
                    yield Difference(Weight.BREAKS, inner, "It may be missing.")
                yield from self._value(inner, shape, described.fields[name])
            elif shape.required:
                yield Difference(Weight.BREAKS, inner, "It is not described any more, and we need it.")
            else:
                yield Difference(Weight.CHANGES, inner, "It is not described any more.")
        for name in described.fields.keys() - known.keys():
            if self._is_made_up(described.fields[name]):
                continue
            yield Difference(Weight.ADDS, f"{place}.{_word(name)}", "A new field.")

    def _refusals(self, endpoint: Endpoint, operation: Any) -> Iterator[Difference]:
        expected = documented(endpoint)
        statuses = {status for status, _ in expected}
        responses = self._reader.member(operation, "responses")
        for text in responses if isinstance(responses, dict) else ():
            if not _REFUSED.fullmatch(text):
                continue
            status = int(text)
            error = self._reader.read(self._content(operation, "responses", text))
            codes = self._reader.read(error.fields.get("code")).values
            unknown = [f"{status} {_word(code)}" for code in codes if (status, code) not in expected]
            if not codes and status not in statuses:
                unknown = [str(status)]
            for refusal in unknown:
                says = f"It may be refused with {refusal}, which we do not know here."
                yield Difference(Weight.CHANGES, endpoint.value, says)

    def _events(self) -> Iterator[Difference]:
        known = event_data()
        described = self._reader.member(self._root, "webhooks")
        for name in described if isinstance(described, dict) else ():
            if name not in known:
                if self._is_made_up(self._reader.member(described, name)):
                    continue
                yield Difference(Weight.ADDS, f"event {_word(name)}", "A new type of event.")
                continue
            envelope = self._reader.read(
                self._content(self._reader.member(described, name, "post"), "requestBody")
            )
            if "data" in envelope.fields:
                yield from self._value(f"event {name} data", known[name], envelope.fields["data"])

    def _is_made_up(self, node: Any) -> bool:
        """The sandbox marks what it had to invent, where the document shows nothing: no news to anybody."""
        return bool(self._reader.member(node, "x-source") == "invented")

    def _content(self, node: Any, *names: str) -> Any:
        return self._reader.member(node, *names, "content", "application/json", "schema")


def _plain(name: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", name)


def _kinds(kinds: frozenset[str]) -> str:
    return " or ".join(sorted(map(_word, kinds)))


def _word(value: Any) -> str:
    """A name from the description, cut to what may stand in a report."""
    return re.sub(r"[^A-Za-z0-9_.{}/ -]", "?", str(value))[:80]
