"""A secret does not show itself by accident."""

import copy
import json
import logging
import pickle
import traceback

import pytest

from bot.partner.secret import Secret

CANARY = "svc_live_c0ffee00CANARY"


def test_a_secret_comes_out_only_when_asked_for() -> None:
    secret = Secret(CANARY)

    shown = [
        str(secret),
        repr(secret),
        f"{secret}",
        f"{secret:>40}",
        f"{secret!r}",
        repr([secret]),
    ]

    assert secret.reveal() == CANARY
    assert not any("CANARY" in text for text in shown)


def test_a_secret_does_not_go_into_json_or_a_pickle() -> None:
    for leave in (json.dumps, pickle.dumps):
        with pytest.raises(TypeError):
            leave(Secret(CANARY))
    secret = Secret(CANARY)
    assert copy.copy(secret) is secret, "what holds one may be copied"
    assert copy.deepcopy({"key": Secret(CANARY)})["key"].reveal() == CANARY


def test_a_secret_is_not_in_a_log_line_or_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(CANARY)

    logging.getLogger("countersign.test").warning("key %s in %r", secret, {"key": secret})
    try:
        raise ValueError(secret)
    except ValueError:
        text = traceback.format_exc()

    assert "CANARY" not in caplog.text + text
    assert "<secret>" in caplog.text


def test_secrets_are_compared_by_their_value_with_secrets_only() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
    assert not Secret("")
