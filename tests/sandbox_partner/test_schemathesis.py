"""Schemathesis on the served description: no server error, and every answer is one that is described."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from sandbox.partner.routes import OPERATIONS
from sandbox.partner.server import serve

CHECKS = (
    not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
    response_schema_conformance,
)  # fmt: skip
NAMES = [operation.name for operation in OPERATIONS]


class Target(NamedTuple):
    schema: Any
    base_url: str
    control_url: str
    key: str
    ids: dict[str, list[str]]


def _start(started: threading.Event, shown: dict[str, Any]) -> None:
    async def main() -> None:
        running = await serve(port=0, demo=True)
        shown.update(base=running.base_url, control=running.control_url, loop=asyncio.get_running_loop())
        shown["stop"] = stop = asyncio.Event()
        started.set()
        await stop.wait()
        await running.close()

    asyncio.run(main())


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """A simulator on a happy day, in a thread: Schemathesis calls it from outside, and waits for answers."""
    started, shown = threading.Event(), dict[str, Any]()
    thread = threading.Thread(target=_start, args=(started, shown))
    thread.start()
    assert started.wait(10)
    with httpx.Client(base_url=shown["control"] + "/") as control:
        control.post("account", json={"deposits_enabled": True}).raise_for_status()
        key = control.post("keys", json={"rate_limit_per_minute": 10**6}).json()["key"]
        state = control.get("state").json()
        ids = {
            "cardId": [card["id"] for card in state["cards"]],
            "fundingId": [one["id"] for one in state["funding"]],
            "eventId": [one["id"] for one in state["events"]],
        }
        document = httpx.get(shown["base"] + "/openapi.json").json()
    yield Target(schemathesis.openapi.from_dict(document), shown["base"], shown["control"], key, ids)
    shown["loop"].call_soon_threadsafe(shown["stop"].set)
    thread.join(10)


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.rule("R001")
def test_no_generated_request_gets_a_server_error_or_an_undescribed_answer(target: Target, name: str) -> None:
    """R001."""
    attack(target, name, examples=6)


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_hundreds_of_generated_requests_get_no_undescribed_answer(target: Target, name: str) -> None:
    attack(target, name, examples=300)


def attack(target: Target, name: str, examples: int) -> None:
    """Call an operation with generated requests; every answer must be one that is described."""
    method, path = name.split()
    operation = target.schema[path][method]

    @settings(
        max_examples=examples, deadline=None, phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(), real=st.booleans(), number=st.integers(0, 50))
    def run(case: Any, real: bool, number: int) -> None:
        if real:
            known = {
                where: ids[number % len(ids)]
                for where, ids in target.ids.items()
                if where in case.path_parameters
            }
            case.path_parameters = {**case.path_parameters, **known}
        case.call_and_validate(
            base_url=target.base_url, headers={"X-API-Key": target.key}, checks=list(CHECKS), timeout=10
        )

    run()


def test_the_ledger_still_adds_up_after_all_that(target: Target) -> None:
    state = httpx.get(f"{target.control_url}/state").json()
    assert state["invariants"] == {"ok": True, "broken": []}
    assert state["ledger_sum"] == state["float"]["balance_usd"]
