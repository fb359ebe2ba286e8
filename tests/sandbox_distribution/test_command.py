"""The command of the sandbox: everything that can be said about both halves, and how it refuses."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox import command
from sandbox.launching import ANY_PORT, CannotLaunch, Launch, Launched, launch

PEOPLE = """
people:
  - {name: ann, real_name: Ann Lee, email: ann@shop.example, tz: Asia/Tokyo}
  - {name: ben, is_restricted: true}
groups:
  - {handle: cooks, users: [ann]}
"""
CHANNELS = """
- {name: kitchen, members: [ann]}
- {name: "#lobby", app: false}
"""
MANIFEST = {
    "display_information": {"name": "Lunch"},
    "features": {"slash_commands": [{"command": "/lunch", "description": "Lunch"}]},
    "oauth_config": {"scopes": {"bot": ["users:read", "users:read.email", "channels:read", "commands"]}},
    "settings": {"event_subscriptions": {"bot_events": ["app_mention", "call_rejected"]}},
}


def written(folder: Path) -> dict[str, Any]:
    """A manifest, people and channels of somebody else's, as files."""
    texts = {"manifest": json.dumps(MANIFEST), "people": PEOPLE, "channels": CHANNELS}
    for name, text in texts.items():
        folder.joinpath(name).write_text(text)
    return {name: folder / name for name in texts}


async def slack(running: Launched, method: str, **args: str) -> dict[str, Any]:
    assert running.slack is not None
    headers = {"Authorization": f"Bearer {running.slack.bot_token}"}
    async with httpx.AsyncClient(base_url=running.slack.api_url, headers=headers, trust_env=False) as http:
        answer: dict[str, Any] = (await http.post(method, data=args)).json()
        return answer


async def test_an_app_finds_its_own_manifest_people_and_channels(tmp_path: Path) -> None:
    """S2."""
    ready = tmp_path / "ready.json"
    running = await launch(Launch(**written(tmp_path), slack_port=ANY_PORT, partner_port=0, ready_file=ready))
    try:
        members = (await slack(running, "users.list"))["members"]
        assert [one["name"] for one in members] == ["ann", "ben", "lunch"]
        assert members[0]["profile"]["email"] == "ann@shop.example"
        channels = (await slack(running, "conversations.list"))["channels"]
        assert [(one["name"], one["is_member"], one["num_members"]) for one in channels] == [
            ("kitchen", True, 2),
            ("lobby", False, 2),
        ]
        assert json.loads(ready.read_text()) == running.facts()
        shown = command.lines(running)
        assert any("call_rejected" in line for line in shown)
        assert not any("app_mention" in line for line in shown)
    finally:
        await running.close()


async def test_a_scenario_plays_on_new_state_only_and_says_so(tmp_path: Path) -> None:
    options = Launch(
        manifest=command.MANIFEST, slack_port=0, partner_port=ANY_PORT, state=tmp_path / "st", scenario="happy-day"
    )  # fmt: skip
    names = set[str]()
    for number in (1, 2):
        running = await launch(options)
        assert running.partner is not None
        async with httpx.AsyncClient(base_url=running.partner.url, trust_env=False) as http:
            await http.post("/_control/accounts", json={"name": f"Kept {number}"})
            headers = {"X-API-Key": running.partner.key}
            path = "/api/partner/v1/cards"
            order = {
                "card_holder_name": f"KEPT {'AB'[number - 1]}",
                "phone_country_code": 48,
                "phone": "501234567",
                "email": "a@b.example",
            }
            made = await http.post(path, json=order, headers={**headers, "Idempotency-Key": f"k-{number}"})
            assert made.status_code == 201, made.text
            names = {
                one["card_holder_name"]
                for one in (await http.get(path, headers=headers)).json()["data"]["cards"]
            }
        said = [line for line in command.lines(running, kept=True) if "new state" in line]
        assert len(said) == number - 1
        await running.close()
    assert {"KEPT A", "KEPT B"} <= names


async def test_a_scenario_that_fails_leaves_no_state_behind(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text("about: Wrong.\nsteps:\n  - {call: GET /me, expect: {status: 404}}\n")
    options = Launch(manifest=command.MANIFEST, slack_port=0, partner_port=ANY_PORT, state=tmp_path / "st")
    with pytest.raises(CannotLaunch, match="step 1") as refused:
        await launch(Launch(**{**vars(options), "scenario": str(wrong)}))
    assert not refused.value.about_options
    running = await launch(Launch(**{**vars(options), "scenario": "happy-day"}))
    assert running.warnings == []
    await running.close()


async def test_a_ready_file_of_an_earlier_start_is_gone_before_anything_listens(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    ready.write_text("{}")
    with pytest.raises(CannotLaunch):
        await launch(Launch(manifest=Path("/nowhere"), partner_port=0, slack_port=ANY_PORT, ready_file=ready))
    assert not ready.exists()


async def test_key_seed_and_scenario_are_taken_and_the_state_outlives_a_restart(tmp_path: Path) -> None:
    key, tokens = "svc_live_00000000abc", []
    options = Launch(
        manifest=command.MANIFEST, slack_port=ANY_PORT, partner_port=ANY_PORT, key=key, seed="mine",
        state=tmp_path / "state",
    )  # fmt: skip
    for scenario in ("happy-day", None):
        running = await launch(Launch(**{**vars(options), "scenario": scenario}))
        assert running.partner is not None
        assert running.slack is not None
        tokens.append(running.slack.bot_token)
        async with httpx.AsyncClient(base_url=running.partner.base_url, trust_env=False) as http:
            me = (await http.get("/me", headers={"X-API-Key": key})).json()["data"]
        assert me["cards"]["total"] == 6
        assert running.partner.world.seed == "mine"
        await running.close()
    assert tokens[0] == tokens[1]
    assert (tmp_path / "state.partner").exists()
    assert (tmp_path / "state.slack").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scenario": "nope"}, "nope is not a scenario"), ({"slack_port": 0, "partner_port": 0}, "switched off"),
        ({"people": Path("/nowhere")}, "cannot read /nowhere: No such file or directory.$"),
        ({"manifest": Path("/nowhere")}, "cannot read the manifest /nowhere: No such file or directory.$"),
        ({"key": "sk_live_real"}, "begins svc_live_00000000"),
        ({"ready_file": Path("/nowhere/x")}, "folder /nowhere for --ready-file does not exist"),
        ({"ready_file": Path("/")}, "--ready-file / cannot be written"),
        ({"state": Path("/nowhere/x")}, "folder /nowhere for --state does not exist"),
        ({"slack_port": 99999}, "99999 is not a port. Give --slack-port"),
        ({"partner_port": -2}, "-2 is not a port. Give --partner-port"),
        *(({"request_url": url}, "--request-url") for url in ("localhost:3000", "ftp://x", "http://", "http://a:b")),
    ],
)  # fmt: skip
async def test_what_cannot_be_started_is_said_in_a_sentence(given: dict[str, Any], said: str) -> None:
    options = {"manifest": command.MANIFEST, "slack_port": ANY_PORT, "partner_port": ANY_PORT, **given}
    with pytest.raises(CannotLaunch, match=said):
        await launch(Launch(**options))


@pytest.mark.parametrize(
    "text",
    [
        "people: [{nam: ann}]",
        "people: ann",
        "[{name: ann, colour: red}]",
        "{people: [{name: ann}], groups: [{}]}",
        "{people: [{name: ann}], group: [{handle: a, users: [ann]}]}",
        "{persons: [{name: ann}]}",
        "{people: [{name: ann}], groups: [{handle: a, users: [nobody]}]}",
        "{people: [{name: ann}], groups: [{handle: a, users: ann}]}",
        "{groups: [{handle: a, users: [U0NOBODY]}]}",
        "{people: [{name: ann}, {name: ann}]}",
    ],
)
async def test_a_wrong_file_of_people_names_what_is_wrong(tmp_path: Path, text: str) -> None:
    people = tmp_path / "people.yml"
    people.write_text(text)
    with pytest.raises(CannotLaunch):
        await launch(Launch(manifest=command.MANIFEST, slack_port=ANY_PORT, partner_port=0, people=people))


async def test_channels_and_groups_of_people_who_are_not_there_are_refused(tmp_path: Path) -> None:
    channels = tmp_path / "channels.yml"
    channels.write_text("[{name: kitchen, members: [nobody]}]")
    options = Launch(manifest=command.MANIFEST, slack_port=ANY_PORT, partner_port=0, channels=channels)
    with pytest.raises(CannotLaunch, match="nobody is not a person"):
        await launch(options)
    channels.write_text("[{name: kitchen, members: [U0ALICE, bob]}]")
    running = await launch(options)
    await running.close()


@pytest.mark.parametrize("half", ["slack", "partner"])
async def test_a_file_that_is_no_state_is_refused(half: str, tmp_path: Path) -> None:
    (tmp_path / f"st.{half}").write_text("no database, but long enough to be taken for one" * 50)
    with pytest.raises(CannotLaunch, match=f"st.{half} cannot be used as state"):
        await launch(
            Launch(
                manifest=command.MANIFEST, slack_port=ANY_PORT, partner_port=ANY_PORT, state=tmp_path / "st"
            )
        )


def test_an_address_of_another_machine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--host", "192.0.2.1"]) == command.CANNOT
    assert "not an address of this machine" in capsys.readouterr().err


def test_an_address_beside_loopback_is_opened_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--host", "0.0.0.0", "--scenario", "nope"]) == command.CANNOT
    assert "act as anybody" in capsys.readouterr().err


def test_the_help_says_what_is_taken_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    for part in ("8400 by default", "8401 by default", "127.0.0.1 by default"):
        assert part in shown, part


async def test_two_sandboxes_do_not_use_one_state(tmp_path: Path) -> None:
    asked = Launch(
        manifest=command.MANIFEST, slack_port=ANY_PORT, partner_port=ANY_PORT, state=tmp_path / "state"
    )
    running = await launch(asked)
    with pytest.raises(CannotLaunch, match="is in use by another sandbox"):
        await launch(asked)
    await running.close()
    await (await launch(asked)).close()


WRONG_FILES: list[tuple[str, str, str]] = [
    ("people", "[{name: ann, name: ben}]", "name stands twice"),
    ("people", "[{name: ann, email: nope}]", "'nope' is not an e-mail address"),
    ("people", "[{name: ann, email: 5}]", "is not an e-mail address"),
    ("channels", '[{name: "Has Space"}]', "cannot be a channel's name"),
    ("channels", "[{name: Kitchen}]", "cannot be a channel's name"),
    ("channels", "[{name: kitchen, members: [ann], members: [ben]}]", "members stands twice"),
    ("channels", "[{name: kitchen, members: [zed]}]", "not a person here; known: ann, ben[.]"),
    ("manifest", "display_information: {name: A}\nsettings: {}\nsettings: {}", "settings stands twice"),
    ("scenario.yml", "about: x\nsteps:\n- {call: GET /me, call: GET /cards}", "call stands twice"),
]


@pytest.mark.parametrize(("name", "text", "said"), WRONG_FILES)
async def test_a_file_is_refused_with_what_is_wrong_in_it(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    given: dict[str, Any] = written(tmp_path)
    (tmp_path / name).write_text(text)
    if name == "scenario.yml":
        given["scenario"] = str(tmp_path / name)
    with pytest.raises(CannotLaunch, match=said) as refused:
        await launch(Launch(**given, slack_port=ANY_PORT, partner_port=ANY_PORT))
    assert not refused.value.about_options, "the help of the command says nothing about what stands in a file"


@pytest.mark.parametrize(
    ("enabled", "request_url"), [(False, None), (False, "http://127.0.0.1:9/"), (True, None)]
)
async def test_a_manifest_without_socket_mode_needs_an_address(
    tmp_path: Path, enabled: bool, request_url: str | None
) -> None:
    given = written(tmp_path)
    settings = {"socket_mode_enabled": enabled, "org_deploy_enabled": True}
    given["manifest"].write_text(json.dumps({"display_information": {"name": "A"}, "settings": settings}))
    running = await launch(Launch(**given, slack_port=ANY_PORT, partner_port=0, request_url=request_url))
    await running.close()
    said = " ".join(running.warnings)
    assert ("turns Socket Mode off" in said) is (not enabled and request_url is None)
    assert "org_deploy_enabled" in said
