"""What counts as this machine has one definition, and every setting, key and page is judged by it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.config import Config, ConfigError, Settings, SettingsError
from bot.domain.card_details import origin_of
from bot.partner.key_guard import SANDBOX_PREFIX, AccessRefused, check_access
from bot.partner.loopback import is_loopback
from bot.partner.secret import Secret

ROOT = Path(__file__).parents[2]
TOML = (ROOT / "countersign.toml").read_text()
THIS_MACHINE = [
    "localhost", "LOCALHOST", "127.0.0.1", "127.0.0.2", "127.255.255.254", "[::1]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:2]",
]  # fmt: skip
ELSEWHERE = [
    "example.com", "localhost.example.com", "127.0.0.1.example.com", "10.0.0.1", "0.0.0.0", "128.0.0.1",
    "[::2]", "[::ffff:10.0.0.1]", "[fe80::1]",
]  # fmt: skip


def as_language_model(host: str) -> bool:
    url = f'url = "http://{host}:8400/v1/chat/completions"'
    try:
        Config.parse(TOML.replace('url = "" ', url).replace('model = ""', 'model = "small"').encode())
    except ConfigError:
        return False
    return True


def as_slack(host: str) -> bool:
    try:
        Settings.from_env({"SLACK_API_URL": f"http://{host}:8400/api/"})
    except SettingsError:
        return False
    return True


def as_provider(host: str) -> bool:
    try:
        check_access(f"http://{host}:8401/api/partner/v1", Secret(f"{SANDBOX_PREFIX}abcdef"))
    except AccessRefused:
        return False
    return True


def as_details_page(host: str) -> bool:
    return origin_of(f"http://{host}:8401/x", is_loopback) is not None


DOORS = [as_language_model, as_slack, as_provider, as_details_page]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("host", THIS_MACHINE)
def test_plain_http_goes_to_every_address_of_this_machine(host: str, door: Callable[[str], bool]) -> None:
    assert is_loopback(host.strip("[]"))
    assert door(host)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("host", ELSEWHERE)
def test_plain_http_goes_nowhere_else(host: str, door: Callable[[str], bool]) -> None:
    assert not is_loopback(host.strip("[]"))
    assert not door(host)


def test_nothing_else_defines_what_loopback_is() -> None:
    asking = {
        str(path.relative_to(ROOT))
        for folder in ("bot", "handlers", "storage")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "is_loopback"
    }

    assert asking == {"bot/partner/loopback.py"}
