"""What the stand-in really sent, against Slack's recorded payloads and Slack's own TypeScript types.

The recordings are merged and blanked, so they are used one way: a key we send must exist there with
the same JSON type. The types know structure and enums, not lengths.
"""

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sandbox.slack.web_api import METHODS, collaboration
from tests.sandbox_slack.recording import Recording, record

Json = dict[str, Any]

SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "slack-json-logs"
TYPES = Path(__file__).parent / "types"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Everything sent in one run; made once."""
    return asyncio.run(record(tmp_path_factory.mktemp("recording")))


def test_the_run_answers_every_method(recording: Recording) -> None:
    # Those of `collaboration` have a test of their own and are not in the recordings.
    assert sorted(set(METHODS) - set(collaboration.METHODS) - set(recording.answers)) == []


# Recorded payloads

ENVELOPE_SAMPLES = {
    "slash_commands": "app-backend/slash-commands/SlashCommandPayload.json",
    "block_actions": "app-backend/interactive-components/BlockActionPayload.json",
    "message_action": "app-backend/interactive-components/MessageShortcutPayload.json",
    "view_submission": "app-backend/views/ViewSubmissionPayload.json",
    "view_closed": "app-backend/views/ViewClosedPayload.json",
    "app_home_opened": "events/AppHomeOpenedPayload.json",
    "app_mention": "events/AppMentionPayload.json",
    "subteam_members_changed": "events/SubteamMembersChangedPayload.json",
    "user_change": "events/UserChangePayload.json",
}
#: Maps with free keys, and blocks, which the recordings merge over all types.
NOT_ENTERED = {"state", "values", "errors", "blocks", "metadata", "event_payload"}
#: Known differences, each with its reason.
DIFFERENT = {
    "/is_enterprise_install": "a string in slash commands on the wire, as Slack's types say",
    "/response_urls": "always present in submissions; the recording is of a view without one",
    "/view/blocks": "present on the wire; the view payload recordings leave it out",
    "/event/view/blocks": "likewise",
    "/actions/0/selected_options": "multi selects and checkboxes are not in the recording",
    "/actions/0/selected_users": "likewise",
    "/event/event_ts": "Slack's types have it in user_change, the recording has not",
    "/event/user/profile/status_emoji_display_info": "likewise",
    "/event/user/profile/fields": "likewise",
}


def _differences(sent: Any, sample: Any, at: str = "") -> list[str]:
    """Keys that Slack's recording has not, or has with another type."""
    if at in DIFFERENT or sent is None or sample is None:
        return []
    if isinstance(sent, bool) != isinstance(sample, bool) or _kind(sent) is not _kind(sample):
        return [f"{at}: {_kind(sent).__name__}, recorded {_kind(sample).__name__}"]
    found: list[str] = []
    if isinstance(sent, dict):
        for key, value in sent.items():
            if key not in sample:
                found += [] if f"{at}/{key}" in DIFFERENT else [f"{at}/{key}: not recorded"]
            elif key not in NOT_ENTERED:
                found += _differences(value, sample[key], f"{at}/{key}")
    elif isinstance(sent, list) and sample:
        for index, item in enumerate(sent):
            found += _differences(item, sample[0], f"{at}/{index}")
    return found


def _kind(value: Any) -> type:
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def _sample(name: str) -> Json:
    path = SAMPLES / name
    if not SAMPLES.is_dir():
        pytest.skip("Slack's recorded payloads are not here: shared/data/slack-json-logs")
    sample: Json = json.loads(path.read_text())
    return sample


@pytest.mark.parametrize("kind", sorted(ENVELOPE_SAMPLES))
def test_every_key_of_an_envelope_is_in_slacks_recording(recording: Recording, kind: str) -> None:
    sample = _sample(ENVELOPE_SAMPLES[kind])
    for payload in recording.envelopes[kind]:
        assert _differences(payload, sample) == []


def test_every_key_of_a_message_event_is_in_slacks_recordings(recording: Recording) -> None:
    own = _sample("events/MessagePayload.json")["event"]
    bot = _sample("events/MessageBotPayload.json")["event"]
    whole = _sample("app-backend/interactive-components/BlockActionPayload.json")["message"]
    events = [
        body["event"] for kind in ("message.im", "message.channels") for body in recording.envelopes[kind]
    ]
    # What a message holds of a file is checked with files.completeUploadExternal.
    without_files = [{key: value for key, value in event.items() if key != "files"} for event in events]
    plain = [event for event in without_files if "subtype" not in event]

    assert plain
    for event in plain:
        assert _differences(event, {**whole, **bot, **own}) == []


#: `views.*` share one recording; the others have one each, as far as they were recorded.
RECORDED = ["apps.connections.open", "assistant.threads.setStatus", "auth.test", "chat.delete",
            "chat.getPermalink", "chat.postEphemeral", "conversations.info", "conversations.list",
            "conversations.members", "files.completeUploadExternal", "files.getUploadURLExternal",
            "usergroups.list", "usergroups.users.list", "users.info", "users.list", "views.open",
            "views.publish", "views.push", "views.update"]  # fmt: skip


@pytest.mark.parametrize("method", RECORDED)
def test_every_key_of_an_answer_is_in_slacks_recording(recording: Recording, method: str) -> None:
    sample = _sample(f"api/{method}.json")
    for answer in recording.answers[method]:
        assert _differences(answer, sample) == []


def test_the_comparison_notices_a_made_up_key_and_a_wrong_type() -> None:
    sample = {"ok": True, "user": {"id": "U", "tz_offset": 1}}

    assert _differences({"ok": True, "user": {"name": "x"}}, sample) == ["/user/name: not recorded"]
    assert _differences({"user": {"tz_offset": "1"}}, sample) == ["/user/tz_offset: str, recorded float"]
    assert _differences({"ok": 1}, sample) == ["/ok: float, recorded bool"]


# Slack's own types

HEADER = """
import type * as types from "@slack/types";
import type * as bolt from "@slack/bolt";
import type * as api from "@slack/web-api";
// Answers are typed with enums, which take no literals: read them as the texts they stand for.
type Spelled<T> = T extends string ? `${T}` : T extends (infer U)[] ? Spelled<U>[]
  : T extends object ? { [K in keyof T]: Spelled<T[K]> } : T;
"""
ACTIONS = {
    "button": "ButtonAction",
    "overflow": "OverflowAction",
    "static_select": "StaticSelectAction",
    "checkboxes": "CheckboxesAction",
    "radio_buttons": "RadioButtonsAction",
    "users_select": "UsersSelectAction",
    "channels_select": "ChannelsSelectAction",
    "conversations_select": "ConversationsSelectAction",
    "multi_users_select": "MultiUsersSelectAction",
    "multi_static_select": "MultiStaticSelectAction",
    "datepicker": "DatepickerAction",
    "timepicker": "TimepickerAction",
}
EVENTS = {
    "app_mention": "AppMentionEvent",
    "app_home_opened": "AppHomeOpenedEvent",
    "subteam_members_changed": "SubteamMembersChangedEvent",
    "user_change": "UserChangeEvent",
}
#: Slack sends these nulls, though its types want the key absent.
SENT_AS_NULL = {"enterprise", "enterprise_id"}


NULL_IN_ANSWERS = {"previous_view_id", "submit", "close"}


def _without(value: Any, nulls: set[str]) -> Any:
    """A copy without these keys where they are null."""
    if isinstance(value, list):
        return [_without(item, nulls) for item in value]
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if not (item is None and key in nulls)}
        return {key: _without(item, nulls) for key, item in kept.items()}
    return value


def _claims(recording: Recording) -> list[tuple[str, Any]]:
    """(type, value) for everything that has a published type."""
    sent = recording.envelopes
    claims: list[tuple[str, Any]] = [("bolt.SlashCommand", one) for one in sent["slash_commands"]]
    clicks = recording.clicks()
    claims += [(f"bolt.BlockAction<bolt.{ACTIONS[kind]}>", click) for kind, click in clicks.items()]
    for kind, name in (("view_submission", "ViewSubmitAction"), ("view_closed", "ViewClosedAction")):
        # The recorded submission has `username` in `user`; the type has not.
        for body in sent[kind]:
            user = {key: value for key, value in body["user"].items() if key != "username"}
            claims.append((f"bolt.{name}", {**body, "user": user}))
    claims += [("bolt.MessageShortcut", body) for body in sent["message_action"]]
    claims += [("bolt.BlockSuggestion", body) for body in sent["block_suggestion"]]
    for kind, name in EVENTS.items():
        # The type of app_home_opened has the view as an app publishes it, not as Slack answers it.
        for body in sent[kind]:
            event = {key: value for key, value in body["event"].items() if key != "view"}
            claims.append((f"types.{name}", event))
    for method, answers in recording.answers.items():
        if method != "response_url":
            parts = method.split(".")
            name = "".join(part[0].upper() + part[1:] for part in parts)
            claims += [
                (f"Spelled<api.{name}Response>", _without(answer, NULL_IN_ANSWERS)) for answer in answers
            ]
    blocks = recording.answers["chat.postMessage"][0]["message"]["blocks"]
    claims.append(("types.KnownBlock[]", blocks))
    return claims


def _tsc(folder: Path, claims: list[tuple[str, Any]]) -> str:
    """What the compiler says of the claims; empty when it agrees."""
    lines = [HEADER]
    for number, (name, value) in enumerate(claims):
        lines.append(
            f"export const v{number} = ({json.dumps(_without(value, SENT_AS_NULL))}) satisfies {name};"
        )
    source = folder / "sent.ts"
    source.write_text("\n".join(lines))
    (folder / "node_modules").symlink_to(TYPES / "node_modules")
    done = subprocess.run(
        [str(TYPES / "node_modules" / ".bin" / "tsc"), "--noEmit", "--strict", "--skipLibCheck",
         "--module", "nodenext", "--moduleResolution", "nodenext", str(source)],
        capture_output=True, text=True, timeout=50, cwd=folder,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.fixture
def compiler() -> None:
    if not (TYPES / "node_modules" / "typescript").is_dir() or shutil.which("node") is None:
        pytest.skip("Slack's TypeScript types are not installed: npm ci in tests/sandbox_slack/types")


@pytest.mark.usefixtures("compiler")
def test_slacks_types_accept_everything_that_was_sent(recording: Recording, tmp_path: Path) -> None:
    claims = _claims(recording)

    assert len(claims) > 50
    assert _tsc(tmp_path, claims) == ""


WRONG: list[tuple[str, str, Any]] = [
    ("bolt.SlashCommand", "is_enterprise_install", False),
    ("bolt.SlashCommand", "text", None),
    ("bolt.ViewSubmitAction", "type", "view_submit"),
    ("bolt.BlockAction<bolt.ButtonAction>", "trigger_id", 1),
    ("Spelled<api.AuthTestResponse>", "user_id", 5),
    ("Spelled<api.AuthTestResponse>", "made_up", "x"),
    ("Spelled<api.ChatPostMessageResponse>", "message", {"blocks": [{"type": "sections"}]}),
    ("types.KnownBlock[]", "0", {"type": "header", "text": {"type": "mrkdwn", "text": "x"}}),
]


@pytest.mark.usefixtures("compiler")
def test_slacks_types_flag_every_wrong_value(recording: Recording, tmp_path: Path) -> None:
    """The positive control: what is accepted above is not accepted because nothing is looked at."""
    right = dict(_claims(recording))
    claims = []
    for name, key, value in WRONG:
        changed = [value] if isinstance(right[name], list) else {**right[name], key: value}
        claims.append((name, changed))
    found = _tsc(tmp_path, claims)

    first = HEADER.count("\n") + 2
    silent = [claim for number, claim in enumerate(WRONG) if f"sent.ts({first + number}," not in found]
    assert silent == []
