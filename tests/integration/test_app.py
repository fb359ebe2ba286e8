"""The composed bot: how it starts, what it refuses to start with, and Slack over signed HTTP."""

import asyncio
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from freezegun import freeze_time
from slack_sdk.signature import SignatureVerifier
from sqlalchemy import text

from bot import slack_connection, slack_names, startup
from bot.domain.alerts import float_alerts
from bot.domain.time import SystemClock
from bot.partner.secret import Secret
from bot.services import alerts, audit_anchors
from bot.services.audit import record
from sandbox.partner.server import serve as serve_partner
from sandbox.slack import serve as serve_slack
from sandbox.slack.control import workspace_admin
from storage import audit
from storage.audit import Anchor
from storage.messages import alerts as alert_rows
from storage.operators import pauses, programs
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.integration.surroundings import CONFIG, MASTER, ROOT, WITHOUT_ITS_ADMINS, Surroundings, ready
from tests.support.databases import migrated_file
from tests.support.waiting import eventually
from tests.thief.edits import insert, opened

pytestmark = pytest.mark.by_turns(4)


async def test_slack_may_reach_the_bot_over_signed_http_instead_of_a_socket(around: Surroundings) -> None:
    running = await around.start()
    try:
        async with httpx.AsyncClient(base_url=around.slack.url, trust_env=False) as page:
            body = {"user": "U0ALICE", "channel": "C0OPS", "text": "/card topup"}
            outcome = (await page.post("/_control/act/command", json=body)).json()["outcome"]
            assert outcome["acked"], outcome

            async def title() -> Any:
                views = (await page.get("/_control/see?user=U0ALICE")).json()["views"]
                return views[-1]["title"]["text"] if views else None

            assert await eventually("a window opens", title) == "Top up a card"
        async with httpx.AsyncClient(base_url=running.url, trust_env=False) as web:
            forged = await web.post(
                "/slack/events", content=b"payload={}", headers={"X-Slack-Signature": "v0=0"}
            )
            assert forged.status_code == 401
            ready = (await web.get("/readyz")).json()
            assert ready["ready"], ready
    finally:
        await running.stop()


@pytest.mark.parametrize(
    ("seconds_old", "status"), [(0, 200), (300, 200), (301, 401), (-300, 200), (-301, 401)]
)
async def test_a_signed_request_of_slack_is_good_for_five_minutes(
    around: Surroundings, seconds_old: int, status: int
) -> None:
    """What was recorded cannot be sent again later, nor signed ahead."""
    body = json.dumps({"type": "url_verification", "challenge": "echo"})
    now = datetime.now(UTC).replace(microsecond=0)
    stamp = str(int(now.timestamp()) - seconds_old)
    signature = SignatureVerifier(around.slack.signing_secret).generate_signature(timestamp=stamp, body=body)
    headers = {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": str(signature),
    }
    running = await around.start()
    try:
        async with httpx.AsyncClient(base_url=running.url, trust_env=False) as web:
            with freeze_time(now, real_asyncio=True):
                answer = await web.post("/slack/events", content=body, headers=headers)
    finally:
        await running.stop()

    assert answer.status_code == status
    assert ("echo" in answer.text) is (status == 200)


async def ready_once_started(around: Surroundings, config: bytes = CONFIG, **env: str) -> dict[str, str]:
    """What a bot that starts says of itself; it stops again, and soon."""
    running = await around.start(config, **env)
    try:
        return await ready(running)
    finally:
        await asyncio.wait_for(running.stop(), 10)


@pytest.mark.parametrize("started_before", [False, True])
async def test_the_bot_starts_and_takes_events_while_slack_is_down_and_writes_when_it_is_back(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch, started_before: bool
) -> None:
    monkeypatch.setattr(slack_names, "_AGAIN_S", 0.1)
    if started_before:
        await (await around.start()).stop()
    port = urlsplit(around.slack.url).port
    assert port is not None
    await around.slack.close()

    running = await around.start()
    try:
        shown = await ready(running)
        assert "Messages and approvals wait" in shown["slack"]
        assert {shown["database"], shown["key"], shown["poller"]} == {"ok"}, "it reads the account meanwhile"
        async with running.core.store.begin() as tx:
            said = float_alerts.LEDGER_DIFFERS.says(program="main", difference="1", total="2", balance="3")
            await alerts.raise_(
                tx, running.core, said, condition="ledger:main", subject="main", program="main"
            )

        again = await serve_slack(port=port, manifest_path=ROOT / "manifest.yml", options=around.options)
        try:
            async with httpx.AsyncClient(base_url=again.url, trust_env=False) as page:

                async def arrived() -> bool:
                    seen = (await page.get("/_control/state")).text
                    return "Ledger and float of main differ by 1" in seen

                assert await eventually("what waited arrives", arrived)

            async def is_ready() -> bool:
                return (await ready(running))["slack"] == "ok"

            assert await eventually("it asked Slack for the names again", is_ready)
            assert running.core.channels.alerts == "C0ALERTS"
        finally:
            await again.close()
    finally:
        await running.stop()


async def test_in_socket_mode_it_starts_and_stops_while_slack_is_down_as_well(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_connection, "CONNECTS_WITHIN_S", 0.1)
    token = around.slack.app_token
    await around.slack.close()

    shown = await ready_once_started(around, SLACK_APP_TOKEN=token)

    assert "Messages and approvals wait" in shown["slack"]
    assert shown["database"] == "ok"


async def test_with_a_policy_nobody_could_meet_it_starts_and_says_so(around: Surroundings) -> None:
    running = await around.start(CONFIG + b"[policy.default]\napprovals = 3\n")
    try:
        assert "asks for 3 approval" in (await ready(running))["policy"]
        async with running.core.store.read() as tx:
            assert "policy" in [alert.kind for alert in await alert_rows.open_ones(tx)]
    finally:
        await running.stop()


@pytest.mark.parametrize("setting", ["admins", "requesters", "approvers"])
async def test_a_group_of_the_policy_that_slack_does_not_have_stops_the_start_with_its_fix(
    around: Surroundings, setting: str
) -> None:
    """Every help, Home and decision needs that group."""
    config = CONFIG.replace(b'["@card-approvers"]', b'["@card-approvers", "@no-such-group"]')
    if setting != "approvers":
        config = CONFIG.replace(b"[people]", f'[people]\n{setting} = ["@no-such-group"]'.encode())

    with pytest.raises(startup.CannotStart) as refused:
        await around.start(config)

    said = str(refused.value)
    assert "Slack knows no user group and no person named @no-such-group" in said
    assert "Nothing was started" in said
    assert "Create the group in Slack, or correct countersign.toml" in said


async def test_real_money_is_never_approved_in_a_slack_on_this_machine(around: Surroundings) -> None:
    """Anybody acts as anybody in a stand-in. Nothing is sent to the card provider before that is refused."""
    live = {
        "COUNTERSIGN_PARTNER_URL": "https://cards.example.com/api/partner/v1",
        "COUNTERSIGN_PARTNER_KEY": "svc_live_" + "9sK2mQ7x" * 4,
    }
    with pytest.raises(startup.CannotStart, match="stand-in on this machine"):
        await around.start(CONFIG, **live)


async def test_a_channel_with_a_guest_gets_nothing_and_it_is_said_where_it_can_be(
    around: Surroundings,
) -> None:
    around.slack.workspace.store.channels["C0APPROVALS"].members.append("U0GUEST")
    running = await around.start()
    try:
        assert "has_guests" in (await ready(running))["slack"]
        assert running.core.channels.withheld == {"C0APPROVALS": "has_guests"}
        async with running.core.store.read() as tx:
            assert "slack_access" in [alert.kind for alert in await alert_rows.open_ones(tx)]
    finally:
        await running.stop()


async def test_a_channel_that_the_file_allows_to_be_shared_gets_its_messages(around: Surroundings) -> None:
    around.slack.workspace.store.channels["C0APPROVALS"].members.append("U0GUEST")
    around.slack.workspace.store.channels["C0ALERTS"].is_ext_shared = True
    allowed = CONFIG.replace(b"[slack]", b'[slack]\nshared_ok = ["#card-approvals"]')
    running = await around.start(allowed)
    try:
        assert running.core.channels.withheld == {"C0ALERTS": "is_ext_shared"}
    finally:
        await running.stop()


async def test_a_group_that_became_a_persons_name_since_the_last_start_stops_the_start(
    around: Surroundings,
) -> None:
    running = await around.start()
    await running.stop()
    store = around.slack.workspace.store
    group = next(one for one in store.groups.values() if one.handle == "card-approvers")
    del store.groups[group.id]
    store.people["U0BOB"].name = "card-approvers"

    with pytest.raises(startup.CannotStart, match="was the user group"):
        await around.start()


@pytest.mark.usefixtures("little_patience")
@pytest.mark.parametrize("error", ["missing_scope", "invalid_auth", "internal_error", "ratelimited"])
async def test_where_slack_does_not_say_which_groups_there_are_a_missing_group_does_not_stop_the_start(
    around: Surroundings, error: str
) -> None:
    await (await around.start()).stop()
    fault = {"effect": "error", "error": error, "times": 10**6, "method": "usergroups.list"}
    await control(around, ("faults", fault))

    shown = await ready_once_started(around, WITHOUT_ITS_ADMINS)

    assert {shown["database"], shown["key"], shown["poller"]} == {"ok"}
    assert shown["slack"] != "ok"


async def test_while_slack_is_down_a_missing_group_does_not_stop_the_start(around: Surroundings) -> None:
    await around.slack.close()

    shown = await ready_once_started(around, WITHOUT_ITS_ADMINS)

    assert "Messages and approvals wait" in shown["slack"]


async def test_a_group_that_goes_missing_while_the_bot_runs_is_said_and_stops_nothing(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_names, "_LOOK_EVERY_S", 0.1)
    running = await around.start()
    try:
        around.slack.workspace.store.groups.clear()

        async def is_said() -> bool:
            return "@card-approvers" in (await ready(running))["policy"]

        assert await eventually("readyz names the group", is_said)
    finally:
        await running.stop()


async def test_a_key_of_another_account_is_refused_under_the_same_program(around: Surroundings) -> None:
    await (await around.start()).stop()
    other = await serve_partner(port=0, demo=True, seed="another")
    try:
        with pytest.raises(startup.CannotStart, match="another account"):
            await around.start(COUNTERSIGN_PARTNER_URL=other.base_url, COUNTERSIGN_PARTNER_KEY=other.key)
    finally:
        await other.close()


async def _set_key(around: Surroundings, base_url: str, key: str) -> None:
    """As `countersign keys set` does."""
    vault = Vault(Keyring.parse(MASTER))
    store = await Store.open(f"sqlite:///{around.database}", vault=vault, clock=SystemClock())
    try:
        async with store.begin() as tx:
            kept = await programs.put(
                tx, "main", base_url=base_url, key=Secret(key), whatever_was_changed=True
            )
            subject, body = f"program:main:{kept.key_version}", {"base_url": base_url}
            await audit.append(tx, actor="cli", action="key.set", subject=subject, body=body)
    finally:
        await store.close()


@pytest.mark.parametrize("is_started", [False, True], ids=["never used", "its account is known"])
async def test_a_key_that_was_replaced_is_refused_with_its_row_and_signature_of_before(
    around: Surroundings, is_started: bool
) -> None:
    url, key = around.env.pop("COUNTERSIGN_PARTNER_URL"), around.env.pop("COUNTERSIGN_PARTNER_KEY")
    other = await serve_partner(port=0, demo=True, seed="another")
    await migrated_file(around.database)
    try:
        await _set_key(around, *((url, key) if is_started else (other.base_url, other.key)))
        if is_started:
            await (await around.start()).stop()
        with opened(str(around.database)) as database:
            kept = {name: database.read(name) for name in ("program", "row_signature")}
        await _set_key(around, url, key)
        await (await around.start()).stop()

        with opened(str(around.database)) as database:
            for table, rows in kept.items():
                database.write(f"DELETE FROM {table}")
                for row in rows:
                    insert(database, table, row)

        with pytest.raises(startup.CannotStart, match="replaced or removed by the audit log"):
            await around.start()
        await _set_key(around, url, key)
        await (await around.start()).stop()
    finally:
        await other.close()


async def test_a_live_key_is_never_sent_to_this_machine(around: Surroundings) -> None:
    with pytest.raises(startup.CannotStart, match="isn't a sandbox key"):
        await around.start(COUNTERSIGN_PARTNER_KEY="svc_live_12345678deadbeef")


async def test_an_older_copy_is_noticed_by_the_anchor_beside_it_and_starts_in_safe_mode(
    around: Surroundings,
) -> None:
    await (await around.start()).stop()
    backup = around.database.read_bytes()
    await (await around.start()).stop()
    newer = around.database.read_bytes()
    for file in around.database.parent.glob("bot.db-*"):
        file.unlink()
    around.database.write_bytes(backup)

    running = await around.start()
    try:
        async with running.core.store.read() as tx:
            assert [pause.by for pause in await pauses.all(tx)] == ["system:restore"]
            (alert,) = [one for one in await alert_rows.open_ones(tx) if one.kind == "older_copy"]
        assert "Countersign receives events and reads the card provider, but sends nothing" in alert.text
        assert (await ready(running))["safe_mode"].startswith("Safe mode")
    finally:
        await running.stop()

    # The newer database can be put back. Slack has messages of the copy, which it does not know: two people look first.
    for file in around.database.parent.glob("bot.db-*"):
        file.unlink()
    around.database.write_bytes(newer)
    assert (await ready_once_started(around))["safe_mode"].startswith("Safe mode")


WITH_AUDIT_CHANNEL = CONFIG.replace(b"[people]", b'audit_channel = "#card-audit"\n[people]')


async def test_an_older_copy_is_noticed_by_the_audit_channel_where_nothing_else_outlived_the_disk(
    around: Surroundings,
) -> None:
    """A snapshot of the disk takes the file of anchors back with the database; on PostgreSQL there is none."""
    workspace_admin.change_channel(
        around.slack.workspace,
        {"id": "C0AUDIT", "name": "card-audit", "members": ["U0BOB", "U0BOT"]},
    )
    await (await around.start(WITH_AUDIT_CHANNEL)).stop()
    snapshot = {file: file.read_bytes() for file in around.database.parent.glob("bot.db*")}
    running = await around.start(WITH_AUDIT_CHANNEL)
    await audit_anchors.drop(running.core)
    async with running.core.store.read() as tx:
        head = await audit.head(tx)

    async def is_posted() -> bool:
        posted = around.slack.workspace.store.messages["C0AUDIT"]
        return f"Audit anchor: entry {head.seq}" in [message["text"] for message in posted]

    await eventually("the anchor is posted", is_posted)
    await running.stop()
    for file in around.database.parent.glob("bot.db*"):
        file.unlink()
    for file, content in snapshot.items():
        file.write_bytes(content)
    # Anybody may write there.
    forged = Anchor(10_000, "0" * 64, "2026-03-02T09:00:00.000000Z", "0" * 64).line()
    async with httpx.AsyncClient(base_url=around.slack.url, trust_env=False) as page:
        body = {"user": "U0BOB", "channel": "C0AUDIT", "text": forged}
        assert (await page.post("/_control/act/message", json=body)).is_success

    running = await around.start(WITH_AUDIT_CHANNEL)
    try:
        async with running.core.store.read() as tx:
            assert [pause.by for pause in await pauses.all(tx)] == ["system:restore"]
    finally:
        await running.stop()


async def test_a_slack_that_gives_no_anchors_keeps_nobody_from_starting(around: Surroundings) -> None:
    async with httpx.AsyncClient(base_url=around.slack.url, trust_env=False) as page:
        for method in ("conversations.history", "auth.test"):
            fault = {"effect": "error", "method": method, "error": "internal_error", "times": 100}
            assert (await page.post("/_control/faults", json=fault)).is_success
    running = await around.start(WITH_AUDIT_CHANNEL)
    try:
        async with running.core.store.read() as tx:
            assert await pauses.all(tx) == []
    finally:
        await running.stop()


async def test_a_changed_audit_entry_keeps_the_bot_from_starting(around: Surroundings) -> None:
    running = await around.start()
    async with running.core.store.begin() as tx:
        for trigger in ("audit_no_update", "audit_no_delete"):
            await tx.run(text(f"DROP TRIGGER IF EXISTS {trigger}"))
        await tx.run(text("UPDATE audit SET actor = 'U0MALLORY' WHERE seq = 1"))
    await running.stop()

    with pytest.raises(startup.CannotStart, match="audit chain is broken at entry 1"):
        await around.start()


async def test_a_pause_that_was_put_back_to_none_is_in_force_before_anything_is_sent(
    around: Surroundings,
) -> None:
    """With the signature of before: the process that starts has not seen the newer one, and the audit chain tells."""
    running = await around.start()
    of_pause = "FROM row_signature WHERE table_name = 'pause' AND row_key = 'main'"
    async with running.core.store.begin() as tx:
        before = (await tx.run(text(f"SELECT version, mac {of_pause}"))).one()
        await pauses.put(tx, "main", by="U0BOB", by_name="Bob", reason="the key may be stolen")
        await record(tx, running.core, "U0BOB", "program.write_paused", "program:main", {"reason": "r"})
    async with running.core.store.begin() as tx:
        await tx.run(text("DELETE FROM pause"))
        await tx.run(text(f"DELETE {of_pause}"))
        await tx.run(
            text("INSERT INTO row_signature VALUES ('pause', 'main', :version, :mac)"), before._asdict()
        )
    await running.stop()

    running = await around.start()
    try:
        async with running.core.store.read() as tx:
            assert [pause.by for pause in await pauses.all(tx)] == ["U0BOB"]
            assert "changed_outside" in {one.kind for one in await alert_rows.open_ones(tx)}
    finally:
        await running.stop()


async def test_the_start_is_audited_with_the_policy_in_force(around: Surroundings) -> None:
    running = await around.start()
    async with running.core.store.read() as tx:
        actions = {entry.action: entry async for entry in audit.entries(tx)}
    await running.stop()

    assert actions["policy.loaded"].policy_version == running.core.policy.version
    assert "key.set" in actions


# Whatever Slack refuses, the bot starts, says what is wrong, and goes on by itself when it is right again


@dataclass(frozen=True)
class Refusal:
    """What Slack refuses: `begin` and `end` are control calls of the stand-in, `says` is what a person reads."""

    begin: tuple[str, Any]
    end: tuple[str, Any]
    says: tuple[str, ...]
    check: str = "slack"


def answers(error: str, method: str = "", says: tuple[str, ...] = ()) -> Refusal:
    only = {"method": method} if method else {}
    fault = {"effect": "error", "error": error, "times": 10**6, **only}
    return Refusal(("faults", fault), ("faults", None), (error, *says))


def channel(changed: dict[str, Any], back: dict[str, Any], says: tuple[str, ...]) -> Refusal:
    return Refusal(("channels", changed), ("channels", back), says)


PEOPLE = ["U0ALICE", "U0BOB", "U0CAROL"]
REFUSALS = {
    "the token of auth.test": answers("invalid_auth", says=("does not accept SLACK_BOT_TOKEN",)),
    "an account that was disabled": answers("account_inactive", "auth.test", ("enable it in Slack",)),
    "the list of channels": answers("missing_scope", "conversations.list", ("lacks a permission",)),
    "the list of groups": answers("missing_scope", "usergroups.list", ("lacks a permission",)),
    "archived alerts": channel(
        {"id": "C0ALERTS", "archived": True},
        {"id": "C0ALERTS", "archived": False},
        ("#card-alerts is archived", "Unarchive it"),
    ),
    "archived approvals": channel(
        {"id": "C0APPROVALS", "archived": True},
        {"id": "C0APPROVALS", "archived": False},
        ("#card-approvals is archived", "Unarchive it"),
    ),
    "not a member": channel(
        {"id": "C0APPROVALS", "members": PEOPLE},
        {"id": "C0APPROVALS", "members": [*PEOPLE, "U0BOT"]},
        ("not in #card-approvals", "/invite @Countersign"),
    ),
    "an emptied group": Refusal(
        ("groups", {"handle": "card-approvers", "users": []}),
        ("groups", {"handle": "card-approvers", "users": ["U0BOB", "U0CAROL"]}),
        ("approved",),
        "policy",
    ),
}


async def control(around: Surroundings, call: tuple[str, Any]) -> None:
    name, body = call
    async with httpx.AsyncClient(base_url=around.slack.url, trust_env=False) as page:
        address = f"/_control/{name}"
        answer = await (page.delete(address) if body is None else page.post(address, json=body))
        assert answer.status_code == 200, answer.text


@pytest.mark.walk(most=4)
@pytest.mark.parametrize(
    ("refusal", "started_before"),
    [
        *[pytest.param(refusal, True, id=name) for name, refusal in REFUSALS.items()],
        pytest.param(REFUSALS["the token of auth.test"], False, id="never had access: the token"),
        pytest.param(REFUSALS["archived alerts"], False, id="never had access: a channel"),
    ],
)
async def test_whatever_slack_refuses_the_bot_starts_says_it_and_is_well_when_it_is_given_again(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch, refusal: Refusal, started_before: bool
) -> None:
    monkeypatch.setattr(slack_names, "_REFUSED_AGAIN_S", 0.5)
    if started_before:
        await (await around.start()).stop()
    await control(around, refusal.begin)

    running = await around.start()
    try:
        shown = await ready(running)
        for said in refusal.says:
            assert said in shown[refusal.check], shown
        assert {shown["database"], shown["key"], shown["poller"]} == {"ok"}, "it reads the account meanwhile"
        async with running.core.store.read() as tx:
            kinds = [alert.kind for alert in await alert_rows.open_ones(tx)]
        assert ("policy" if refusal.check == "policy" else "slack_access") in kinds
        if started_before:
            assert (running.core.channels.approvals, running.core.channels.alerts) == (
                "C0APPROVALS",
                "C0ALERTS",
            )

        await control(around, refusal.end)

        async def is_well() -> bool:
            async with running.core.store.read() as tx:
                still = {alert.kind for alert in await alert_rows.open_ones(tx)}
            return not still & {"policy", "slack_access"} and set((await ready(running)).values()) == {"ok"}

        assert await eventually("all is well again, without a restart", is_well)
        assert (running.core.channels.approvals, running.core.channels.alerts) == ("C0APPROVALS", "C0ALERTS")
    finally:
        await running.stop()
