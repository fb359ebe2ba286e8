"""The rules of alerts alone: hysteresis, runway, allowance, overdue funding, causes in words, hours."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

import pytest

from bot.config import Config, ConfigError
from bot.domain.alerts import FloatAlert, alert_rules, decline_causes
from bot.domain.time import Hours
from bot.partner.models import DECLINE_CODES

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
RULE = FloatAlert(Decimal(1000), Decimal(1200))
LEAST = b"""
[slack]
approvals_channel = "#a"
alerts_channel = "#b"
[people]
approvers = ["@c"]
"""


def lows(*balances: str) -> str:
    """`L` for each reading at which the float counts as low."""
    low, clean, seen = False, 0, ""
    for balance in balances:
        low, clean = alert_rules.float_is_low(Decimal(balance), RULE, was_low=low, clean_reads=clean)
        seen += "L" if low else "."
    return seen


@pytest.mark.parametrize(
    ("balances", "expected"),
    [
        ("1000 999.99 1000 1199.99", ".LLL"),  # the floor itself is not below it
        ("999 1200 1200 1100", "LL.."),  # two clean readings end it; between the levels nothing begins
        ("999 1200 1199 1200 1300", "LLLL."),  # in a row
        ("999 1200 999 1200 1200", "LLLL."),
        ("5000 1000 5000", "..."),
        ("-5 0 1200 1200", "LLL."),
    ],
)
def test_a_float_is_low_from_the_floor_to_two_clean_readings(balances: str, expected: str) -> None:
    assert lows(*balances.split()) == expected


def spending(per_hour: dict[int, str], *, days: int = 3) -> list[alert_rules.Spent]:
    """Readings on the hour for some days, what each hour of the day takes given."""
    at, total, made = NOW - timedelta(days=days), Decimal(0), []
    while at <= NOW:
        made.append(alert_rules.Spent(at, total))
        at += timedelta(hours=1)
        total += Decimal(per_hour.get((at - timedelta(minutes=1)).hour, "0"))
    return made


def test_the_runway_follows_the_hours_of_the_day() -> None:
    busy_at_noon = spending({12: "900"})

    left = alert_rules.hours_left(Decimal(2000), Decimal(1000), busy_at_noon, NOW, most=48)

    assert left is not None
    assert 24 < left < 30  # the noon of tomorrow takes the last of it, whatever the nights do


@pytest.mark.parametrize(
    "readings",
    [[], spending({}), spending({9: "5000"})[-2:], [alert_rules.Spent(NOW, Decimal(5))]],
    ids=["none", "nothing spent", "too short", "one"],
)
def test_no_runway_is_shown_from_too_little(readings: list[alert_rules.Spent]) -> None:
    assert alert_rules.hours_left(Decimal(2000), Decimal(1000), readings, NOW, most=48) is None


def test_a_float_at_its_floor_has_no_time_left_and_a_far_end_is_not_said() -> None:
    steady = spending(dict.fromkeys(range(24), "10"))

    assert alert_rules.hours_left(Decimal(1000), Decimal(1000), steady, NOW, most=48) == 0
    assert alert_rules.hours_left(Decimal(1100), Decimal(1000), steady, NOW, most=48) == pytest.approx(
        10, abs=0.5
    )
    assert alert_rules.hours_left(Decimal(9000), Decimal(1000), steady, NOW, most=48) is None


@pytest.mark.parametrize(
    ("total", "limit", "level"),
    [(79, 100, None), (80, 100, "info"), (90, 100, "warning"), (95, 100, "critical"), (100, 100, "critical"),
     (120, 100, "critical"), (5, None, None), (0, 0, None)],
)  # fmt: skip
def test_the_allowance_warns_at_a_fifth_a_tenth_and_a_twentieth(
    total: int, limit: int | None, level: str | None
) -> None:
    assert alert_rules.allowance_level(total, limit) == level


def test_overdue_is_against_the_usual_time_of_its_network() -> None:
    hour = timedelta(hours=1)
    assert alert_rules.usual_time("POLYGON", []) == hour
    assert alert_rules.usual_time("POLYGON", [hour * 3] * 4) == hour  # too few to tell
    assert alert_rules.usual_time("POLYGON", [hour * 3] * 5) == hour * 3
    assert alert_rules.overdue_mark(hour, hour) == ""
    marks = [alert_rules.overdue_mark(hour * h, hour) for h in (2, 7, 25, 100)]
    assert marks == ["more than 1 h", "more than 6 h", "more than 24 h", "more than 72 h"]


def test_every_cause_of_the_document_has_words_and_a_next_step() -> None:
    for code in DECLINE_CODES:
        cause = decline_causes.cause_in_words(code)
        assert code not in cause.what
        assert cause.next_step.endswith(".")
    assert "brand_new" in decline_causes.cause_in_words("brand_new").what
    assert [decline_causes.retry_in_words(r) for r in (True, False, None)] == [
        "A retry can help.",
        "Retrying won't help.",
        "Whether a retry can help is not known.",
    ]
    assert decline_causes.is_severe("processing_error", card_blocked=True)
    assert not decline_causes.is_severe("processing_error", card_blocked=None)


def test_hours_are_read_from_the_file_and_checked() -> None:
    shown = b'[alerts.hours]\ntimezone = "Europe/Berlin"\nquiet = "22:00-07:00"\ndigest = ""\n'
    hours = Config.parse(LEAST + shown).alerting.hours

    assert hours == Hours("Europe/Berlin", (time(22), time(7)), None)
    assert Config.parse(LEAST).alerting.hours == Hours()
    for wrong in ('timezone = "Mars/Base"', 'quiet = "22-7"', 'quiet = "07:00-07:00"', 'digest = "25:00"'):
        with pytest.raises(ConfigError, match=r"alerts\.hours"):
            Config.parse(LEAST + b"[alerts.hours]\n" + wrong.encode())
