"""What a manifest declares and the stand-in lacks is said where it is loaded, and what it has is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.slack.delivery.events import SCOPE_OF
from sandbox.slack.state import manifest
from sandbox.slack.state.manifest import SUPPORTED_EVENTS
from sandbox.slack.web_api import METHODS

ROOT = Path(__file__).parents[2]
BASE: dict[str, Any] = {"display_information": {"name": "Lunch"}}
FEATURES: dict[str, Any] = {
    "assistant_view": {},
    "rich_previews": {"is_active": True},
    "search": {},
    "colour": 1,
}
SETTINGS: dict[str, Any] = {
    "hermes_app_type": "remote",
    "siws_links": {},
    "is_mcp_enabled": True,
    "nonsense": 1,
}


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"functions": {"greet": {"title": "Greet"}}}, ["greet", "function"]),
        ({"workflows": {"w": {"title": "W"}}}, ["workflow"]),
        ({"datastores": {"d": {}}}, ["datastores"]), ({"types": {"t": {}}}, ["types"]),
        ({"outgoing_domains": ["x.example"]}, ["outgoing_domains"]),
        ({"features": {"workflow_steps": [{"name": "S", "callback_id": "s"}]}}, ["workflow_steps"]),
        *(({"features": {name: value}}, [name]) for name, value in FEATURES.items()),
        *(({"settings": {name: value}}, [name]) for name, value in SETTINGS.items()),
        ({"oauth_config": {"scopes": {"bot": ["chat:wirte"]}}}, ["chat:wirte"]),
        ({"oauth_config": {"scopes": {"user": ["search:read"]}}}, ["user"]),
        ({"oauth_config": {"redirect_urls": ["https://x.example"]}}, ["redirect_urls"]),
        ({"settings": {"event_subscriptions": {"user_events": ["message.im"]}}}, ["user_events"]),
        ({"settings": {"event_subscriptions": {"bot_events": ["star_added"]}}}, ["star_added"]),
        ({"fetaures": {}}, ["fetaures"]),
        ({"features": {"slash_commands": [{"command": "/a", "descripton": "x"}]}}, ["descripton"]),
        ({"features": {"shortcuts": [{"name": "a", "callback_id": "b", "type": "global", "typ": 1}]}}, ["typ"]),
    ],
)  # fmt: skip
def test_a_manifest_that_declares_more_is_told_apart(more: dict[str, Any], named: list[str]) -> None:
    said = manifest.parse({**BASE, **more}).unsupported
    assert len(said) == 1, said
    assert all(name in said[0] for name in named)


def test_every_scope_that_the_stand_in_knows_and_every_event_is_taken_in_silence() -> None:
    scopes = {one.scope for one in METHODS.values() if isinstance(one.scope, str)} | set(SCOPE_OF.values())
    declared = {
        **BASE,
        "oauth_config": {
            "scopes": {"bot": sorted(scopes | {"commands", "chat:write.customize", "groups:write"})}
        },
        "settings": {"event_subscriptions": {"bot_events": sorted(SUPPORTED_EVENTS)}},
    }
    assert manifest.parse(declared).unsupported == []


@pytest.mark.parametrize(
    "path", ["manifest.yml", "examples/slack_bot/manifest.yml", "sandbox/slack/any_app.yml"]
)
def test_manifests_of_ours_declare_nothing_that_is_missing(path: str) -> None:
    assert manifest.parse(yaml.safe_load((ROOT / path).read_text())).unsupported == []
