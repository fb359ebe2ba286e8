"""Whatever is sent, the answer is one that the description allows, and never a fault of the simulator."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.partner import codec, invariants
from sandbox.partner.control import CALLS, dispatch
from sandbox.partner.http import Request
from sandbox.partner.routes import BASE_PATH, OPERATIONS, Operation
from sandbox.partner.scenarios import catalogue
from sandbox.partner.server import answering, build_world, standing_key
from sandbox.partner.state import World
from tests.sandbox_partner.conftest import ORDER, Description
from tests.support.samples import examples

pytestmark = pytest.mark.by_turns(4)

SCALARS = (
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30) | st.sampled_from(["POLYGON", "0x" + "1" * 64, "svc_live_", "1" * 10])
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
QUERY = st.dictionaries(st.sampled_from(["limit", "page", "offset", "since", "type"]), TEXTS, max_size=3)


@pytest.fixture
def world() -> Iterator[tuple[World, str]]:
    world = build_world()
    key = standing_key(world)
    catalogue.play(world, "happy-day")
    yield world, key
    world.store.close()


def bodies(operation: Operation) -> st.SearchStrategy[bytes]:
    """Bytes, any JSON, and objects with the operation's fields holding anything."""
    names = [field.name for field in operation.body.fields] if operation.body else ["x"]
    fields = st.fixed_dictionaries({}, optional=dict.fromkeys(names, VALUES))
    nearly = st.dictionaries(st.sampled_from(sorted(ORDER)), VALUES, max_size=1).map(
        lambda part: {**ORDER, **part}
    )
    return st.binary(max_size=30) | (VALUES | fields | nearly).map(codec.encode)


@pytest.mark.by_turns(5)
@pytest.mark.sampled
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@settings(
    max_examples=examples(10, full=25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_no_request_gets_an_answer_that_is_not_described(
    world: tuple[World, str], operation: Operation, data: st.DataObject
) -> None:
    simulated, key = world
    simulated.recent_calls.clear()
    cards = [row["id"] for row in simulated.store.all("SELECT id FROM cards ORDER BY seq LIMIT 6")]
    number, nobody = data.draw(st.integers(0, 5)), data.draw(st.text("abcXYZ019", min_size=1, max_size=32))
    card = cards[number] if data.draw(st.booleans()) else nobody
    path = operation.path.replace("{cardId}", card).replace("{fundingId}", data.draw(st.uuids().map(str)))
    query = "&".join(f"{name}={value}" for name, value in data.draw(QUERY).items())
    idem = data.draw(st.none() | st.text(max_size=12))
    headers = [("X-API-Key", key), *([("Idempotency-Key", idem)] if idem is not None else [])]
    body = data.draw(bodies(operation))

    answer = asyncio.run(
        answering.handle(simulated, Request(operation.method, BASE_PATH + path, query, headers, body))
    )

    assert answer.status != 500
    Description().check(operation.method, path, answer.status, codec.decode(answer.body))
    assert invariants.broken(simulated) == []


@pytest.mark.by_turns(5)
@pytest.mark.sampled
@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.method} {call.path}")
@settings(
    max_examples=examples(8, full=15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(body=st.binary(max_size=20) | VALUES.map(codec.encode), data=st.data())
def test_no_control_call_fails_on_its_body(
    world: tuple[World, str], call: Any, body: bytes, data: st.DataObject
) -> None:
    simulated, _ = world
    fields: tuple[str, ...] = getattr(call.form, "__struct_fields__", ())
    if fields and len(body) % 2:
        body = codec.encode(data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(fields, VALUES))))
    path = call.path.replace("{}", data.draw(st.sampled_from(["nobody", "x" * 40, "happy-day"])))

    status, answer = dispatch.handle(simulated, call.method, path, body)

    assert status in (200, 400, 404, 409)
    assert isinstance(codec.decode(answer), dict)
    assert invariants.broken(simulated) == []
