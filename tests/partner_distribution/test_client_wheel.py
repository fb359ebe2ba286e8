"""The client as a distribution of its own: one name, what it requires and no more, types for its users, examples."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.distributions import DISTRIBUTIONS, ROOT, bare_environment, used_alone

# Wheels are built, types checked and other suites run in processes of their own, beside whatever else computes.
pytestmark = [pytest.mark.timeout(180), pytest.mark.by_turns(4)]

USE = """
import asyncio, importlib.util
from decimal import Decimal
import httpx
from countersign_partner import Certainty, PartnerClient, PartnerError, SyncPartnerClient
import countersign_partner

BODY = b'{"data": {"card_id": "Ab1", "amount_requested_usd": 5.50, "fee_usd": 0, "credited_usd": 5.50,' \
    b' "partner_balance_usd": 94.5}}'
sent = []

def answer(request):
    sent.append((request.content, request.headers["idempotency-key"], request.headers["user-agent"]))
    return httpx.Response(200, content=BODY, headers={"X-RateLimit-Remaining": "119"})

URL, KEY = "http://127.0.0.1:1/api/partner/v1", "svc_live_00000000aa"

async def run():
    async with PartnerClient(URL, KEY, http=httpx.MockTransport(answer)) as client:
        done = await client.top_up("Ab1", amount_usd=Decimal("5.50"), key="k-1")
        again = await client.top_up("Ab1", b'{"amount_usd":5.50}', key="k-1")
        assert done == again
        assert done.response.status == 200 and done.response.headers["x-ratelimit-remaining"] == "119"
        assert done.response.sent_key == "k-1" and done.response.attempts == 1
        return done

done = asyncio.run(run())
with SyncPartnerClient(URL, KEY, http=httpx.MockTransport(answer)) as client:
    assert client.top_up("Ab1", amount_usd=Decimal("5.50"), key="k-1") == done
    for wrong in (
        Decimal("5.555"), Decimal(0), Decimal("-1"), Decimal("NaN"), Decimal("Infinity"), 5.5, 5.0, float("nan"),
        "5.50", True, [5], {},
    ):
        try:
            client.top_up("Ab1", amount_usd=wrong, key="k-2")
        except PartnerError as error:
            assert error.certainty is Certainty.DEFINITE, error
        else:
            raise AssertionError(wrong)
for call in (client.me, lambda: list(client.cards()), lambda: client.top_up("Ab1", amount_usd=5, key="k-3")):
    try:
        call()
    except PartnerError as error:
        assert error.certainty is Certainty.DEFINITE and "closed" in str(error), error
    else:
        raise AssertionError("after the end")
client.close_connections()
assert {content for content, _, _ in sent} == {b'{"amount_usd":5.50}'}, sent
assert {agent for _, _, agent in sent} == {"countersign-partner/0.1.0"}
for name in ("bot", "sandbox", "handlers", "storage", "sqlmodel", "slack_bolt", "countersign_sandbox"):
    assert importlib.util.find_spec(name) is None, name
"""

USERS_PROJECT = '''
"""A program under mypy strict that uses what the client offers."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal

from countersign_partner import (
    Certainty, Lane, PartnerClient, PartnerError, Secret, SyncPartnerClient, errors, models, unwrap, verify,
)


def pay(client: SyncPartnerClient, card_id: str) -> Decimal | None:
    try:
        done: models.TopUp = client.top_up(card_id, amount_usd=Decimal("5.50"), key="k")
    except errors.InsufficientFunds:
        return None
    except PartnerError as error:
        return Decimal(0) if error.certainty is Certainty.AMBIGUOUS else None
    if done.response.status == 200:
        print(done.response.headers.get("x-ratelimit-remaining"))
    return done.partner_balance_usd


async def holders(client: PartnerClient) -> list[str]:
    found: AsyncIterator[models.Card] = client.cards(lane=Lane.PEOPLE)
    return [card.card_holder_name async for card in found]


def taken(body: bytes, headers: dict[str, str], secret: Secret) -> str | None:
    event = unwrap(verify(body, headers, [secret], datetime.now(UTC)))
    return event.data.merchant if isinstance(event, models.CardAuthorized) else event.type
'''

MISTAKES = {
    "client.top_up(card_id, amount=Decimal(1), key='k')": "call-overload",
    "client.top_up(card_id, amount_usd=5.5, key='k')": "call-overload",
    "client.top_up(card_id, amount_usd=Decimal(1))": "call-overload",
    "client.top_up(card_id, key='k')": "call-overload",
    "client.set_3ds(card_id, method='sms')": "call-overload",
    "client.me().float.balance": "attr-defined",
}


def test_the_client_has_one_name_its_types_and_none_of_the_products_packages(client_alone: Path) -> None:
    assert {path.name for path in client_alone.iterdir()} == {
        "countersign_partner",
        "countersign_partner-0.1.0.dist-info",
    }
    assert (client_alone / "countersign_partner" / "py.typed").exists()
    for path in client_alone.rglob("*.py"):
        for line in path.read_text().splitlines():
            assert not line.lstrip().startswith(("from bot", "import bot", "from sandbox")), (path, line)


def test_the_client_works_beside_nothing_but_what_it_requires(client_alone: Path, tmp_path: Path) -> None:
    bare = bare_environment(client_alone, tmp_path / "bare")
    used_alone(USE, client_alone, bare, tmp_path)


def shown_on_the_page() -> list[str]:
    """The programs on the page of the client; each runs, and each passes mypy in strict mode."""
    page = (ROOT / "docs" / "partner-client.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return [one for one in blocks if "pytest_plugins" not in one]


def checked(folder: Path, both: Path) -> str:
    """What mypy in strict mode says of a user's program, with no configuration of ours."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--no-incremental",
         *sorted(path.name for path in folder.glob("*.py"))],
        cwd=folder, capture_output=True, text=True, timeout=150,
        env={**os.environ, "MYPYPATH": "", "PYTHONPATH": str(both)},
    )  # fmt: skip
    return done.stdout + done.stderr


def test_a_users_program_passes_mypy_in_strict_mode_and_a_mistake_in_it_does_not(
    tmp_path: Path, both: Path
) -> None:
    mistakes = "\n".join(f"    {one}" for one in MISTAKES)
    wrong = f"{USERS_PROJECT}\n\ndef wrong(client: SyncPartnerClient, card_id: str) -> None:\n{mistakes}\n"
    (tmp_path / "program.py").write_text(wrong)
    for number, block in enumerate(shown_on_the_page()):
        (tmp_path / f"page{number}.py").write_text("URL = KEY = CARD = ''\n" + block)
    everything = [line for line in checked(tmp_path, both).splitlines() if ": error:" in line]
    assert [line for line in everything if line.startswith("page")] == []
    said = [line for line in everything if line.startswith("program.py")]
    lines = wrong.splitlines()
    found = {lines[int(line.split(":")[1]) - 1].strip(): line.rsplit("[", 1)[-1].rstrip("]") for line in said}
    assert found == MISTAKES


def test_the_synchronous_client_is_written_from_the_asynchronous_one() -> None:
    """`python distributions/partner/write_synchronous.py` writes it again."""
    writer = runpy.run_path(str(DISTRIBUTIONS / "partner" / "write_synchronous.py"))
    assert writer["WRITTEN"].read_text() == writer["written"]()


DOCUMENTED = """
import asyncio, contextlib, io, sys
from countersign_partner import SyncPartnerClient
from countersign_sandbox.command import MANIFEST
from countersign_sandbox.launching import ANY_PORT, Launch, launch
from countersign_sandbox.testing.background import Background

blocks = {blocks!r}
background = Background()
running = background.run(launch(Launch(manifest=MANIFEST, slack_port=0, partner_port=ANY_PORT, scenario="happy-day")))
partner = running.partner
with SyncPartnerClient(partner.base_url, partner.key) as api:
    card = next(one.id for one in api.cards() if one.status == "ACTIVE")
for block in blocks:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(block, {{"URL": partner.base_url, "KEY": partner.key, "CARD": card}})
    print(repr(said.getvalue().splitlines()[-1]))
background.run(running.close())
"""


def test_what_the_page_of_the_client_shows_runs_as_it_stands(both: Path, tmp_path: Path) -> None:
    programs = shown_on_the_page()
    bare = bare_environment(both, tmp_path / "bare")
    said = used_alone(DOCUMENTED.format(blocks=programs), both, bare, tmp_path).splitlines()
    assert len(said) == len(programs) == 6
    assert said[2].startswith("'200 ")
    assert said[4:] == ["'True'", "'e-1 True'"]


OWN_TESTS = """
import time
from countersign_partner import SyncPartnerClient
from countersign_partner.testing import PassingClock


def test_a_wait_for_the_minute_costs_no_time(partner_sandbox):
    began = time.monotonic()
    key = partner_sandbox.control("keys", rate_limit_per_minute=10)["key"]
    before = partner_sandbox.state()["clock"]
    clock = PassingClock(partner_sandbox)
    with SyncPartnerClient(partner_sandbox.base_url, key, clock=clock) as client:
        for _ in range(25):
            client.me()
    assert clock.monotonic() > 60
    assert partner_sandbox.state()["clock"] > before
    assert time.monotonic() - began < 20


async def test_the_client_can_be_awaited(async_partner_client, partner_client):
    assert (await async_partner_client.me()).partner == partner_client.me().partner
"""


def pytest_run(both: Path, folder: Path, *more: str) -> str:
    """The last line of a run of pytest as a user has it: both plugins are found by their entry points."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(folder)),
            *("-p", "no:cacheprovider", *more),
        ],
        cwd=folder, capture_output=True, text=True, timeout=150, env={**os.environ, "PYTHONPATH": str(both)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_the_examples_of_the_client_pass(both: Path) -> None:
    assert pytest_run(both, ROOT / "examples" / "partner_client", "-p", "no:asyncio").startswith("6 passed")


def test_the_fixtures_for_users_tests_wait_for_nothing(both: Path, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["countersign_partner.testing"]\n')
    (tmp_path / "test_own.py").write_text(OWN_TESTS)
    assert pytest_run(both, tmp_path, "-o", "asyncio_mode=auto").startswith("2 passed")
