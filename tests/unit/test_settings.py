"""The environment: names, forms, secrets, and where the master key may come from."""

import sys
import traceback
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.config import MasterKeySource, Need, Settings, SettingsError
from bot.partner.secret import Secret

KEY = "hVXvTjwYcVCMXAWOV3Pv9H3Hg7IaLo3n8iN8V5oBBJw="


def problems_of(env: dict[str, str], *need: Need) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        Settings.from_env(env, need=need)
    return caught.value.problems


def test_an_empty_environment_gives_the_documented_defaults() -> None:
    settings = Settings.from_env({})

    assert settings.database_url == "sqlite:///var/countersign.db"
    assert settings.slack_api_url == "https://slack.com/api/"
    assert str(settings.config_path) == "countersign.toml"
    assert str(settings.http_bind) == "127.0.0.1:8402"
    assert settings.log is None


def test_every_problem_is_reported_at_once() -> None:
    problems = problems_of(
        {
            "COUNTERSIGN_DATABASE_URL": "mysql://x",
            "COUNTERSIGN_HTTP_BIND": "8402",
            "COUNTERSIGN_PUBLIC_URL": "http://cards.example.com",
            "COUNTERSIGN_LOG": "loud",
            "SLACK_BOT_TOKEN": "xapp-1-A",
            "COUNTERSIGN_PARTNER_URL": "https://api.example.com",
            "COUNTERSIGN_DATABASEURL": "x",
        },
        Need.SLACK,
        Need.SLACK_EVENTS,
        Need.MASTER_KEY,
    )

    text = "\n".join(problems)
    for name in (
        "COUNTERSIGN_DATABASE_URL must",
        "COUNTERSIGN_HTTP_BIND",
        "COUNTERSIGN_PUBLIC_URL must start with https://",
        "COUNTERSIGN_LOG",
        "SLACK_BOT_TOKEN does not start with xoxb-",
        "COUNTERSIGN_PARTNER_URL must end in /api/partner/v1",
        "one is missing",
        "COUNTERSIGN_DATABASEURL is not a setting. Did you mean COUNTERSIGN_DATABASE_URL?",
        "SLACK_APP_TOKEN (Socket Mode",
        "No master key",
    ):
        assert name in text
    assert len(problems) == 10


def test_a_variable_set_to_nothing_is_not_set() -> None:
    assert Settings.from_env({"COUNTERSIGN_PUBLIC_URL": "", "SLACK_APP_TOKEN": " "}) == Settings.from_env({})


def test_plain_http_is_for_this_machine_only() -> None:
    Settings.from_env({"SLACK_API_URL": "http://127.0.0.1:8400/api/"})
    Settings.from_env({"SLACK_API_URL": "http://[::1]:8400/api/"})

    for url in ("http://10.0.0.1/api/", "http://127.0.0.1.example.com/api/", "ftp://127.0.0.1/api/"):
        assert problems_of({"SLACK_API_URL": url})


def test_two_sources_of_the_master_key_are_refused() -> None:
    problems = problems_of(
        {"COUNTERSIGN_MASTER_KEYS": KEY, "COUNTERSIGN_MASTER_KEY_FILE": "/run/key"}, Need.MASTER_KEY
    )

    assert problems == [
        "COUNTERSIGN_MASTER_KEY_FILE and COUNTERSIGN_MASTER_KEYS are set:"
        " exactly one source of the master key is allowed."
    ]


def test_a_master_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "master.key"
    path.write_text(KEY + "\n")
    source = MasterKeySource("COUNTERSIGN_MASTER_KEY_FILE", Secret(str(path)))

    for mode in (0o644, 0o640, 0o604, 0o700):
        path.chmod(mode)
        with pytest.raises(SettingsError, match="chmod 600"):
            source.read()
    for mode in (0o600, 0o400):
        path.chmod(mode)
        assert source.read().reveal().strip() == KEY


def test_a_master_key_command_is_run_without_a_shell(tmp_path: Path) -> None:
    def read(command: str) -> str:
        return MasterKeySource("COUNTERSIGN_MASTER_KEY_COMMAND", Secret(command)).read().reveal()

    assert read(f"{sys.executable} -c 'print(\"{KEY}; echo $HOME\")'").strip() == f"{KEY}; echo $HOME"
    with pytest.raises(SettingsError, match="ended with code 3"):
        read(f"{sys.executable} -c 'raise SystemExit(3)'")
    with pytest.raises(SettingsError, match="cannot be run"):
        read(str(tmp_path / "absent"))


def test_a_master_key_command_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.config.master_key.COMMAND_TIMEOUT_S", 0.2)
    source = MasterKeySource(
        "COUNTERSIGN_MASTER_KEY_COMMAND", Secret(f"{sys.executable} -c 'import signal; signal.pause()'")
    )

    with pytest.raises(SettingsError, match="did not end"):
        source.read()


def test_no_secret_shows_in_the_settings_or_in_a_traceback() -> None:
    env = {
        "SLACK_BOT_TOKEN": "xoxb-1-canary",
        "SLACK_APP_TOKEN": "xapp-1-canary",
        "COUNTERSIGN_MASTER_KEYS": "canary",
        "COUNTERSIGN_DATABASE_URL": "postgresql://bot:canary@db/countersign",
        "COUNTERSIGN_PARTNER_URL": "https://api.example.com/api/partner/v1",
        "COUNTERSIGN_PARTNER_KEY": "svc_live_canary",
    }

    settings = Settings.from_env(env)

    assert "canary" not in f"{settings!r} {settings}"
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({**env, "COUNTERSIGN_LOG": "?"})
    assert "canary" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None  # what pydantic raised holds the values
    assert settings.slack_bot_token is not None
    assert settings.slack_bot_token.reveal() == "xoxb-1-canary"


def test_the_environment_of_the_process_is_read_only_where_it_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COUNTERSIGN_DATABASE_URL", "sqlite:///other.db")

    assert Settings.from_env({}).database_url == Settings().database_url == "sqlite:///var/countersign.db"


def test_settings_cannot_be_changed() -> None:
    settings = Settings.from_env({})

    with pytest.raises(ValidationError, match="frozen"):
        settings.database_url = "sqlite:///other.db"  # type: ignore[misc]  # the point of the test


def test_what_kubernetes_says_of_a_service_with_our_name_is_ignored() -> None:
    """For a Service named countersign, and for one named countersign-web [kubernetes.io, discovering services]."""
    for service in ("COUNTERSIGN", "COUNTERSIGN_WEB"):
        env = {
            f"{service}_SERVICE_HOST": "10.96.7.21",
            f"{service}_SERVICE_PORT": "8402",
            f"{service}_SERVICE_PORT_HTTP": "8402",
            f"{service}_PORT": "tcp://10.96.7.21:8402",
            f"{service}_PORT_8402_TCP": "tcp://10.96.7.21:8402",
            f"{service}_PORT_8402_TCP_PROTO": "tcp",
            f"{service}_PORT_8402_TCP_PORT": "8402",
            f"{service}_PORT_8402_TCP_ADDR": "10.96.7.21",
        }
        assert Settings.from_env(env) == Settings.from_env({})


def test_a_port_that_a_person_wrote_is_still_an_unknown_setting() -> None:
    (problem,) = problems_of({"COUNTERSIGN_PORT": "8402"})

    assert problem == "COUNTERSIGN_PORT is not a setting.", (
        "no other is near: what all begin with does not count"
    )
