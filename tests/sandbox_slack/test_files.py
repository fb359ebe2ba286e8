"""Files: the app's uploads, people's uploads, and who may fetch what."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp

from sandbox.slack import Options
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import MANIFEST, Stage

Json = dict[str, Any]
CSV = "card,amount\n4242,50.00\n"


def manifest_with(*scopes: str) -> Json:
    manifest: Json = json.loads(json.dumps(MANIFEST))
    manifest["oauth_config"]["scopes"]["bot"] += scopes
    return manifest


def hearing(received: list[Json]) -> Any:
    def wire(app: AsyncApp) -> None:
        @app.event("message")
        async def message(event: Json) -> None:
            received.append(event)

    return wire


async def upload(stage: Stage, **fields: Any) -> Json:
    given = {"user": "U0ALICE", "channel": "D0ALICE", "files": [{"name": "Cards.csv", "content": CSV}]}
    return await stage.act("upload", **{**given, **fields})


async def fetched(stage: Stage, url: str, token: str = "") -> tuple[int, str, str]:
    """Status, kind and text at the address, redirects not followed."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with stage.http().get(url, headers=headers, allow_redirects=False) as answer:
        return answer.status, answer.headers.get("Location", answer.content_type), await answer.text()


async def test_a_persons_upload_reaches_the_app_which_reads_it_with_its_token(make_stage: MakeStage) -> None:
    received: list[Json] = []
    stage = await make_stage(manifest=manifest_with("files:read"), wire=hearing(received))
    done = await upload(stage, text="top these up")

    event = received[0]
    assert (event["subtype"], event["channel_type"], event["user"]) == ("file_share", "im", "U0ALICE")
    assert (event["text"], event["ts"], event["upload"]) == ("top these up", done["ts"], False)
    file = event["files"][0]
    assert (file["name"], file["size"], file["mimetype"], file["user"]) == (
        "Cards.csv",
        len(CSV),
        "text/csv",
        "U0ALICE",
    )
    assert file["ims"] == ["D0ALICE"]
    token = stage.running.bot_token
    assert await fetched(stage, file["url_private_download"], token) == (200, "text/csv", CSV)
    assert await fetched(stage, file["url_private"], token) == (200, "text/csv", CSV)


async def test_without_a_right_to_read_files_slack_leads_to_its_sign_in_page(make_stage: MakeStage) -> None:
    received: list[Json] = []
    stage = await make_stage(wire=hearing(received))
    await upload(stage)
    url, running = received[0]["files"][0]["url_private_download"], stage.running

    for token in (running.bot_token, running.app_token, "xoxb-wrong", ""):
        status, leads_to, _ = await fetched(stage, url, token)
        assert (status, leads_to.partition("?")[0]) == (302, "/signin")
    async with stage.http().get(url, headers={"Authorization": f"Bearer {running.bot_token}"}) as followed:
        # The trap: followed, it is a 200 and no CSV.
        assert (followed.status, followed.content_type) == (200, "text/html")


async def test_a_file_in_a_channel_without_the_app_is_not_for_it(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False, manifest=manifest_with("files:read"))
    await upload(stage, channel="C0GENERAL")
    file = (await stage.messages("U0ALICE", "C0GENERAL"))[0]["files"][0]

    status, leads_to, _ = await fetched(stage, file["url_private_download"], stage.running.bot_token)
    assert (status, leads_to.partition("?")[0]) == (302, "/signin")
    unknown = f"{stage.running.url}/files-pri/T0SANDBOX-F0NONE/download/x.csv"
    assert (await fetched(stage, unknown, stage.running.bot_token))[0] == 404


async def test_only_those_who_see_a_message_save_its_file(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    await upload(stage)
    shown = (await stage.messages("U0ALICE", "D0ALICE"))[0]
    at = f"{stage.running.url}/_control/file/{shown['files'][0]['id']}?user="

    assert (shown["subtype"], shown["text"], shown["blocks"]) == ("file_share", "", [])
    assert await fetched(stage, f"{at}U0ALICE") == (200, "text/csv", CSV)
    assert (await fetched(stage, f"{at}U0BOB"))[0] == 404
    assert (await fetched(stage, f"{at}U0NOBODY"))[0] == 400


async def test_files_outlive_a_restart(make_stage: MakeStage, tmp_path: Path) -> None:
    options = Options(state_path=str(tmp_path / "slack.sqlite"))
    first = await make_stage(connect=False, options=options)
    await upload(first)
    file_id = (await first.messages("U0ALICE", "D0ALICE"))[0]["files"][0]["id"]
    second = await make_stage(connect=False, options=options)

    at = f"{second.running.url}/_control/file/{file_id}?user=U0ALICE"
    assert (await fetched(second, at))[2] == CSV


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([], "1 to 10 files"),
        ([{"name": "a.csv", "content": "x"}] * 11, "1 to 10 files"),
        ([{"name": "a.csv", "content": ""}], "a name and 1 to"),
        ([{"name": " ", "content": "x"}], "a name and 1 to"),
        ([{"name": "a.csv", "content_base64": "?"}], "not base64"),
        ([{"content": "x"}], "name is missing"),
        (["x"], "name is missing"),
    ],
)
async def test_what_nobody_can_upload_is_refused_in_words(
    make_stage: MakeStage, files: list[Any], said: str
) -> None:
    stage = await make_stage(connect=False)
    where = {"user": "U0ALICE", "channel": "D0ALICE"}

    assert said in (await stage.post("act/upload", 400, **where, files=files))["error"]


async def test_bytes_arrive_as_they_were_sent(make_stage: MakeStage) -> None:
    content = "\ufeffcard;amount\r\n".encode() + b"\xff\x00"
    stage = await make_stage(connect=False)
    await upload(stage, files=[{"name": "x.bin", "content_base64": base64.b64encode(content).decode()}])
    file = (await stage.messages("U0ALICE", "D0ALICE"))[0]["files"][0]

    async with stage.http().get(f"{stage.running.url}/_control/file/{file['id']}?user=U0ALICE") as answer:
        assert await answer.read() == content
        assert answer.headers["Content-Disposition"].startswith("attachment;")


async def test_an_apps_upload_is_refused_as_slack_refuses_it(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    too_long = await stage.api("files.getUploadURLExternal", filename="a.csv", length=10**9)
    no_name = await stage.api("files.getUploadURLExternal", length=4)
    ticket = await stage.api("files.getUploadURLExternal", filename="a.csv", length=4)
    share = {"files": [{"id": ticket["file_id"]}]}
    empty = await stage.api("files.completeUploadExternal", **share, channel_id="D0ALICE")
    async with stage.http().post(ticket["upload_url"], data=b"too long") as short:
        assert short.status == 400
    async with stage.http().post(ticket["upload_url"], data=b"a,b\n") as sent:
        assert (sent.status, await sent.text()) == (200, "OK - 4")
    lost = await stage.api("files.completeUploadExternal", **share, channel_id="C0NONE")
    no_thread = await stage.api(
        "files.completeUploadExternal", **share, channel_id="D0ALICE", thread_ts="1.0"
    )
    done = await stage.api("files.completeUploadExternal", **share, channel_id="D0ALICE")
    twice = await stage.api("files.completeUploadExternal", **share, channel_id="D0ALICE")

    refusals = [one.get("error") for one in (too_long, no_name, empty, lost, no_thread, twice)]
    assert refusals == [
        "file_upload_size_restricted",
        "invalid_arguments",
        "file_update_failed",
        "channel_not_found",
        "thread_not_found",
        "file_update_failed",
    ]
    assert done["ok"]
    assert [one["files"][0]["name"] for one in await stage.messages("U0ALICE", "D0ALICE")] == ["a.csv"]


async def test_both_steps_need_the_scope_and_keep_to_their_rate(make_stage: MakeStage) -> None:
    manifest = manifest_with()
    manifest["oauth_config"]["scopes"]["bot"].remove("files:write")
    stage = await make_stage(connect=False, manifest=manifest)
    refused = await stage.api("files.getUploadURLExternal", filename="a.csv", length=4)
    assert (refused["error"], refused["needed"]) == ("missing_scope", "files:write")

    stage = await make_stage(connect=False)
    answers = [await stage.api("files.getUploadURLExternal", filename="a.csv", length=4) for _ in range(101)]
    assert [one["_status"] for one in answers[-2:]] == [200, 429]
    assert int(answers[-1]["_headers"]["Retry-After"]) >= 1


async def test_a_download_can_be_made_to_fail(make_stage: MakeStage) -> None:
    received: list[Json] = []
    stage = await make_stage(manifest=manifest_with("files:read"), wire=hearing(received))
    await upload(stage)
    url, token = received[0]["files"][0]["url_private_download"], stage.running.bot_token
    await stage.post("faults", method="files.download", effect="429", seconds=7)

    assert (await fetched(stage, url, token))[0] == 429
    assert (await fetched(stage, url, token))[0] == 200
