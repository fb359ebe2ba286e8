"""Where the sandbox is opened to others, its links lead there, and a name works that somebody gave it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox import command
from sandbox.launching import ANY_PORT, CannotLaunch, Launch, Launched, launch

LINK = re.compile(r"(?:http|ws)://([^/\"\\]+)/")
ORDER = {
    "card_holder_name": "ANN LEE",
    "phone": "+48501234567",
    "email": "ann@shop.example",
    "partner_ref": "a",
}


async def opened(tmp_path: Path, open_to: str, *names: str) -> Launched:
    manifest = tmp_path / "manifest.yml"
    manifest.write_text(
        "display_information: {name: Lunch}\n"
        "features: {slash_commands: [{command: /lunch, description: Lunch}]}\n"
        "oauth_config: {scopes: {bot: [commands, chat:write, files:read, files:write]}}\n"
    )
    return await launch(
        Launch(manifest=manifest, slack_port=ANY_PORT, partner_port=ANY_PORT, open_to=open_to, names=names,
               scenario="happy-day")
    )  # fmt: skip


async def links(running: Launched, caller: str) -> dict[str, str]:
    """The host of every link that a caller of this host (`{}` is the port) is given, by the call that gave it."""
    slack, partner = running.slack, running.partner
    assert slack is not None
    assert partner is not None
    found: dict[str, str] = {}
    headers = {
        "Authorization": f"Bearer {slack.bot_token}",
        "Host": caller.format(slack.url.rpartition(":")[2]),
    }
    async with httpx.AsyncClient(base_url=slack.api_url, headers=headers, trust_env=False) as http:
        app = {"Authorization": f"Bearer {slack.app_token}"}
        sent = {"filename": "a.txt", "length": "3"}
        given = {
            "socket": await http.post("apps.connections.open", headers=app),
            "upload": await http.post("files.getUploadURLExternal", data=sent),
        }
        found |= {name: LINK.findall(answer.text)[0] for name, answer in given.items()}
        upload = given["upload"].json()
        path = "/upload/" + upload["upload_url"].rpartition("/")[2]
        await http.post(slack.url + path, content=b"abc")
        done = await http.post("files.completeUploadExternal", json={"files": [{"id": upload["file_id"]}]})
        assert done.json()["ok"]
        assert slack.workspace.base_url.endswith(found["socket"]), (
            "what the app is sent leads where it connected"
        )
        listed = await http.post("files.list")
        found |= {
            f"file {n}": one for n, one in enumerate(LINK.findall(listed.text)) if "slack.com" not in one
        }
    headers = {"X-API-Key": partner.key, "Host": caller.format(partner.url.rpartition(":")[2])}
    async with httpx.AsyncClient(base_url=partner.base_url, headers=headers, trust_env=False) as http:
        cards = (await http.get("/cards")).json()["data"]["cards"]
        card = next(one["id"] for one in cards if one["status"] == "ACTIVE")
        found["pan"] = LINK.findall((await http.get(f"/cards/{card}/pan")).text)[0]
        found["token"] = LINK.findall((await http.post(f"/cards/{card}/pan-token")).text)[0]
    return {name: host.rpartition(":")[0] for name, host in found.items()}


@pytest.mark.parametrize(
    ("open_to", "names", "caller", "host"),
    [
        ("", (), "127.0.0.1:{}", "127.0.0.1"),
        ("", (), "localhost:{}", "localhost"),
        ("0.0.0.0", (), "192.0.2.7:{}", "192.0.2.7"),
        ("127.0.0.2", (), "127.0.0.2:{}", "127.0.0.2"),
        ("0.0.0.0", ("Sandbox", "other"), "sandbox:{}", "sandbox"),
        ("0.0.0.0", ("sandbox", "other"), "OTHER:{}", "OTHER"),
    ],
)
async def test_every_link_leads_where_its_reader_called(
    open_to: str, names: tuple[str, ...], caller: str, host: str, tmp_path: Path
) -> None:
    running = await opened(tmp_path, open_to, *names)
    try:
        found = await links(running, caller)
        assert len(found) >= 5
        assert set(found.values()) == {host}, found
    finally:
        await running.close()


OF_THIS_MACHINE = "COUNTERSIGN_PARTNER_URL"  # Countersign takes no address without TLS of another one


def _texts(facts: Any) -> Iterator[str]:
    for half in facts.values():
        found = {name: value for name, value in half.items() if value.startswith("http")}
        assert found.pop(OF_THIS_MACHINE, "http://127.0.0.1:").startswith("http://127.0.0.1:")
        yield from found.values()


@pytest.mark.parametrize(
    ("open_to", "names", "host"),
    [("", (), "127.0.0.1"), ("127.0.0.2", (), "127.0.0.2"), ("0.0.0.0", ("sandbox",), "sandbox")],
)
async def test_addresses_said_at_the_start_lead_to_where_it_is_opened(
    open_to: str, names: tuple[str, ...], host: str, tmp_path: Path
) -> None:
    running = await opened(tmp_path, open_to, *names)
    try:
        assert {LINK.findall(one + "/")[0].rpartition(":")[0] for one in _texts(running.facts())} == {host}
        assert any("SLACK_API_URL  " in line and host in line for line in command.lines(running))
    finally:
        await running.close()


@pytest.mark.parametrize("half", ["slack", "partner"])
async def test_a_name_that_nobody_gave_is_refused_with_the_option_that_gives_it(
    half: str, tmp_path: Path
) -> None:
    running = await opened(tmp_path, "0.0.0.0", "sandbox")
    try:
        url = getattr(running, half).url
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            for name, status in {
                "sandbox": 200,
                "Sandbox:9": 200,
                "evil.example": 403,
                "sandbox@evil.example": 403,
            }.items():
                answer = await http.get("/_control", headers={"Host": name})
                assert answer.status_code == status, name
                assert status == 200 or "--name" in answer.text
            strange = {"Host": "sandbox", "Origin": "http://evil.example"}
            assert (await http.get("/_control", headers=strange)).status_code == 403
    finally:
        await running.close()


@pytest.mark.parametrize("name", ["http://sandbox", "sandbox:8400", "", "a b"])
async def test_what_is_not_a_host_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CannotLaunch, match="not a host name"):
        await opened(tmp_path, "", name)
