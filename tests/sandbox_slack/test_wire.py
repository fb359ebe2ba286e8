"""Socket Mode, acks and what happens when they do not come; with the real Bolt app."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import ClientSession, WSMsgType
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError

from sandbox.slack import Options
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Stage, button
from tests.support.waiting import eventually

Json = dict[str, Any]


async def test_a_command_reaches_the_app_and_its_reply_is_seen_by_the_sender_alone(
    make_stage: MakeStage,
) -> None:
    received: list[Json] = []

    def wire(app: AsyncApp) -> None:
        @app.command("/card")
        async def card(ack: Any, command: Json) -> None:
            received.append(command)
            await ack("Which card?")

    stage = await make_stage(wire=wire)
    outcome = await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card topup 4242 50")

    assert outcome["acked"]
    assert outcome["ack_ms"] < 300
    assert (received[0]["command"], received[0]["text"]) == ("/card", "topup 4242 50")
    assert received[0]["is_enterprise_install"] == "false"
    assert [(m["text"], m["ephemeral"]) for m in await stage.messages("U0ALICE", "C0OPS")] == [
        ("Which card?", True)
    ]
    assert await stage.messages("U0BOB", "C0OPS") == []


async def test_a_command_that_is_not_declared_is_not_delivered(make_stage: MakeStage) -> None:
    stage = await make_stage()

    outcome = await stage.act("command", user="U0ALICE", channel="C0OPS", text="/float")

    assert (outcome["acked"], outcome["reason"]) == (False, "not_declared")
    assert (await stage.state())["envelopes"] == []


async def test_should_escape_turns_names_into_ids(make_stage: MakeStage) -> None:
    received: list[str] = []

    def wire(app: AsyncApp) -> None:
        @app.command("/who")
        async def who(ack: Any, command: Json) -> None:
            received.append(command["text"])
            await ack()

    stage = await make_stage(wire=wire)
    await stage.act("command", user="U0ALICE", channel="C0OPS", text="/who @bob #card-ops @nobody")

    assert received == ["<@U0BOB|bob> <#C0OPS|card-ops> @nobody"]


async def test_a_missed_ack_shows_slacks_failure_text_and_is_counted(make_stage: MakeStage) -> None:
    def wire(app: AsyncApp) -> None:
        @app.command("/card")
        async def card(ack: Any) -> None:
            await asyncio.sleep(0.5)
            await ack("too late")

    stage = await make_stage(wire=wire, options=Options(ack_seconds=0.2))
    outcome = await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")

    assert outcome == {"acked": False, "ack_ms": None, "reason": "timeout"}
    [shown] = await stage.messages("U0ALICE", "C0OPS")
    assert shown["ephemeral"]
    assert shown["text"] == '/card failed with the error "operation_timeout"'
    assert (await stage.state())["missed_acks"] == 1
    record = await eventually("the late ack in the record", lambda: _late(stage))
    assert record["acked"] is False


async def _late(stage: Stage) -> Any:
    [record] = (await stage.state())["envelopes"]
    return record if record["late"] else None


async def test_without_a_connection_a_command_fails_at_once(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)

    outcome = await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")

    assert outcome["reason"] == "no_connection"
    assert (await stage.messages("U0ALICE", "C0OPS"))[0]["text"].endswith('"dispatch_failed"')


async def test_the_timer_of_an_ack_cannot_be_made_longer_than_slacks() -> None:
    with pytest.raises(ValueError, match="at most 3 seconds"):
        Options(ack_seconds=3.1)
    with pytest.raises(ValueError, match="bursts of 3"):
        Options(posts_burst=4)


async def _open_socket(stage: Stage, http: ClientSession) -> Any:
    opened = await stage.client.apps_connections_open(app_token=stage.running.app_token)
    return await http.ws_connect(opened["url"], autoping=False)


async def test_hello_comes_first_and_an_eleventh_socket_is_sent_away(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    async with ClientSession() as http:
        sockets = [await _open_socket(stage, http) for _ in range(10)]
        hellos = [await one.receive_json() for one in sockets]
        eleventh = await _open_socket(stage, http)

        assert [one["num_connections"] for one in hellos] == list(range(1, 11))
        assert hellos[0]["connection_info"] == {"app_id": "A0COUNTERSIGN"}
        assert (await eleventh.receive_json())["reason"] == "too_many_websockets"


async def test_a_ticket_opens_one_socket_only(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    opened = await stage.client.apps_connections_open(app_token=stage.running.app_token)
    async with ClientSession() as http:
        await http.ws_connect(opened["url"])
        again = await http.get(opened["url"].replace("ws://", "http://"))

        assert again.status == 403


async def test_each_envelope_goes_to_one_socket_and_an_ack_may_come_on_another(make_stage: MakeStage) -> None:
    """Bolt closes its old socket before the new one is open; the ack of what was under way comes late."""
    stage = await make_stage(connect=False)
    async with ClientSession() as http:
        first, second = [await _open_socket(stage, http) for _ in range(2)]
        await first.receive_json()
        await second.receive_json()
        asked = asyncio.create_task(stage.act("command", user="U0BOB", channel="C0OPS", text="/card"))
        envelope = await first.receive_json()
        await second.send_json({"envelope_id": envelope["envelope_id"]})

        assert (await asked)["acked"]
        with pytest.raises(asyncio.TimeoutError):
            await second.receive(timeout=0.1)
        assert envelope["accepts_response_payload"] is True


async def test_pings_are_answered_unless_the_socket_is_silent(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False, options=Options(ack_seconds=0.1))
    async with ClientSession() as http:
        socket = await _open_socket(stage, http)
        await socket.receive_json()
        await socket.ping(b"sdk-ping-pong:1")
        pong = await socket.receive()
        assert (pong.type, bytes(pong.data)) == (WSMsgType.PONG, b"sdk-ping-pong:1")

        await stage.post("faults", method="slash_commands", effect="silence", seconds=30)
        outcome = await stage.act("command", user="U0BOB", channel="C0OPS", text="/card")
        await socket.ping(b"2")

        assert outcome["reason"] == "timeout"
        with pytest.raises(asyncio.TimeoutError):
            await socket.receive(timeout=0.1)


async def test_the_app_is_pinged_as_well_unless_the_socket_is_silent(make_stage: MakeStage) -> None:
    """S6: a client of Slack waits for pings once it has had one."""
    stage = await make_stage(connect=False, options=Options(ping_seconds=0.02))
    async with ClientSession() as http:
        socket = await _open_socket(stage, http)
        await socket.receive_json()
        assert (await socket.receive(timeout=1)).type is WSMsgType.PING
        await stage.post("faults", method="slash_commands", effect="silence", seconds=30)
        asked = asyncio.create_task(stage.act("command", user="U0BOB", channel="C0OPS", text="/card"))
        await asyncio.sleep(0.05)  # what was on its way
        while (await _next_within(socket, 0.01)) is not None:
            pass
        assert await _next_within(socket, 0.1) is None
        asked.cancel()


async def _next_within(socket: Any, seconds: float) -> Any:
    """The next frame, None when none comes in time."""
    try:
        return await socket.receive(timeout=seconds)
    except TimeoutError:
        return None


@pytest.mark.parametrize(
    "off", [("disconnect", {"reason": "link_disabled"}), ("socket_mode", {"enabled": False})]
)
@pytest.mark.parametrize("on", [("socket_mode", {"enabled": True}), ("reset", {})])
async def test_nothing_connects_while_socket_mode_is_turned_off(
    make_stage: MakeStage, off: tuple[str, Json], on: tuple[str, Json]
) -> None:
    """S6."""
    stage = await make_stage(connect=False)
    async with ClientSession() as http:
        socket = await _open_socket(stage, http)
        await socket.receive_json()
        await stage.post(off[0], **off[1])
        assert (await socket.receive_json())["reason"] == "link_disabled"
        with pytest.raises(SlackApiError, match="access_denied"):
            await _open_socket(stage, http)
        await stage.post(on[0], **on[1])
        assert (await (await _open_socket(stage, http)).receive_json())["type"] == "hello"


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "too_many_websockets"])
async def test_the_real_client_survives_every_kind_of_disconnect(make_stage: MakeStage, reason: str) -> None:
    def wire(app: AsyncApp) -> None:
        @app.command("/card")
        async def card(ack: Any) -> None:
            await ack()

    stage = await make_stage(wire=wire)
    calls = len((await stage.state())["calls"])
    await stage.post("disconnect", reason=reason)

    async def opened_again() -> bool:
        later = (await stage.state())["calls"][calls:]
        return any(call["method"] == "apps.connections.open" for call in later)

    async def works() -> bool:
        done = await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")
        return bool(done["acked"])

    await eventually("another connection is opened", opened_again)
    await eventually("a command is acked over it", works)


async def test_a_lost_ack_fails_for_the_person_though_the_app_did_its_work(make_stage: MakeStage) -> None:
    worked: list[str] = []

    def wire(app: AsyncApp) -> None:
        @app.action("approve")
        async def approve(ack: Any, action: Json) -> None:
            await ack()
            worked.append(action["value"])

    stage = await make_stage(wire=wire, options=Options(ack_seconds=1))
    sent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1", blocks=[button()])
    await stage.post("faults", method="block_actions", effect="lost_ack")
    first = await stage.act("click", user="U0BOB", channel="C0OPS", ts=sent["ts"], action_id="approve")
    second = await stage.act("click", user="U0BOB", channel="C0OPS", ts=sent["ts"], action_id="approve")

    assert (first["acked"], second["acked"]) == (False, True)
    assert worked == ["R-1", "R-1"]


async def test_a_duplicated_envelope_has_the_same_id_and_trigger(make_stage: MakeStage) -> None:
    received: list[str] = []

    def wire(app: AsyncApp) -> None:
        @app.command("/card")
        async def card(ack: Any, body: Json) -> None:
            received.append(body["trigger_id"])
            await ack()

    stage = await make_stage(wire=wire)
    await stage.post("faults", method="slash_commands", effect="duplicate", nth=2)
    for _ in range(2):
        await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")

    await eventually("the third envelope", lambda: len(received) == 3)
    assert received[0] != received[1] == received[2]
    assert (await stage.state())["unknown_acks"] == 0


async def test_an_unknown_ack_and_noise_on_the_socket_are_counted(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    async with ClientSession() as http:
        socket = await _open_socket(stage, http)
        await socket.receive_json()
        for frame in ("not json", "[]", json.dumps({"envelope_id": "made-up"})):
            await socket.send_str(frame)

        async def counted() -> bool:
            return bool((await stage.state())["unknown_acks"] == 3)

        await eventually("an unknown ack and two frames of noise are counted", counted)
