"""`countersign.toml`: what is accepted, what is inherited, and that every problem is named at once."""

import hashlib
from dataclasses import fields
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bot.config import Config, ConfigError
from bot.config.policy import Rule
from bot.config.sections import ValueTable
from bot.domain.events import Retention
from bot.domain.people import Call, KindPolicy
from bot.domain.people.policy import Tier

ROOT = Path(__file__).parents[2]
SMALLEST = """
[slack]
approvals_channel = "#a"
alerts_channel = "#b"
[people]
approvers = ["@boss"]
"""


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        Config.parse(text.encode())
    return caught.value.problems


def test_the_example_file_is_valid_and_says_what_its_comments_say() -> None:
    content = (ROOT / "countersign.toml").read_bytes()

    config = Config.parse(content)

    assert config.channels.approvals == "#card-approvals"
    assert config.channels.audit is None
    assert config.policy.people.requesters == ()
    assert config.policy.of("card_topup").tiers == (Tier(Decimal(500), 2),)
    assert config.policy.of("funding_submit") == KindPolicy(1, timedelta(hours=2))
    assert config.policy.limits.per_requester_usd == Decimal(5000)
    assert config.policy.limits.per_pair_usd is None
    assert config.policy.people.admins == ()
    assert config.destinations == ()


def test_the_example_of_a_destination_in_the_example_file_is_a_valid_one() -> None:
    text = (ROOT / "countersign.toml").read_text()
    before, example = text.split("[relay]")
    shown = "".join(f"{line[2:]}\n" for line in example.splitlines() if line.startswith("# "))

    (destination,) = Config.parse((before + shown).encode()).destinations

    assert destination.events == ("card.authorized", "card.transaction")


def test_defaults_hold_where_the_file_is_silent() -> None:
    config = Config.parse(SMALLEST.encode())

    assert config.policy.of("card_order") == KindPolicy()
    assert config.poll.cards == timedelta(minutes=10)
    assert config.retention == Retention(timedelta(days=30), timedelta(days=30))
    assert config.alerting.float_alert.floor_usd == Decimal(1000)
    assert config.alerting.declines.cluster_at == 5
    assert config.policy.limits.total_usd is None


def test_a_policy_table_inherits_what_it_does_not_set() -> None:
    config = Config.parse(
        (
            SMALLEST + '[policy.default]\napprovals = 2\nexpires = "1d"\n[policy.card_freeze]\nnow = false'
        ).encode()
    )

    assert config.policy.of("card_freeze") == KindPolicy(2, timedelta(days=1), (), now=False)
    assert config.policy.of("card_close") == KindPolicy(2, timedelta(days=1))


@pytest.mark.parametrize(
    ("names", "called"),
    [('"@card-ops"', ("@card-ops",)), ('["@card-ops", "@bob"]', ("@card-ops", "@bob")), ('""', ())],
)
def test_who_is_called_by_a_critical_alert_is_one_name_or_several(
    names: str, called: tuple[str, ...]
) -> None:
    assert Config.parse(f"{SMALLEST}[alerts]\ncall = {names}".encode()).alerting.call == called


def test_a_policy_may_call_nobody_and_says_so_in_no_other_word() -> None:
    config = Config.parse(f'{SMALLEST}[policy.card_topup]\ncall = "nobody"'.encode())

    assert (config.policy.of("card_topup").call, config.policy.of("card_order").call) == (
        Call.NOBODY,
        Call.GROUP,
    )
    assert problems_of(f'{SMALLEST}[policy.default]\ncall = "all"\n[alerts]\ncall = "everybody"') == [
        'policy.default.call is \'all\', which is not "group" or "nobody".',
        'alerts.call[1] is \'everybody\', which is not an "@group", an "@user" or a Slack id.',
    ]


def test_the_policy_version_is_the_digest_of_the_bytes() -> None:
    content = SMALLEST.encode()

    assert Config.parse(content).policy.version == hashlib.sha256(content).hexdigest()
    assert Config.parse(content + b"\n").digest != Config.parse(content).digest


def test_only_channels_that_countersign_writes_to_may_be_named_as_shared() -> None:
    """A mistyped one would allow nothing, while whoever typed it relies on it."""
    channels = '[slack]\napprovals_channel = "#a"\nalerts_channel = "#b"\naudit_channel = "#c"\n'
    allowed = SMALLEST.replace('[slack]\napprovals_channel = "#a"\nalerts_channel = "#b"\n', channels)
    assert allowed != SMALLEST
    named = allowed.replace("[slack]\n", '[slack]\nshared_ok = ["#a", "#b", "#c"]\n')
    wrong = allowed.replace("[slack]\n", '[slack]\nshared_ok = ["#a", "#elsewhere"]\n')

    assert Config.parse(named.encode()).channels.shared_ok == ("#a", "#b", "#c")
    assert problems_of(wrong) == ["slack.shared_ok names #elsewhere, which is none of the channels above."]


def test_every_problem_is_reported_at_once_with_table_and_key() -> None:
    problems = problems_of(
        """
        [slack]
        approvals_channel = "approvals"
        alerts_chanel = "#alerts"
        [people]
        approvers = []
        [policy.default]
        approvals = 0
        expires = "8 hours"
        [policy.card_top_up]
        approvals = 1
        [limits]
        total_usd = 20000
        [poll]
        account = "60"
        """
    )

    named = [problem.split(" ", 1)[0] for problem in problems]
    assert sorted(named) == sorted(
        [
            "slack.approvals_channel",
            "slack.alerts_channel",
            "slack.alerts_chanel",
            "people.approvers",
            "policy.default.approvals",
            "policy.default.expires",
            "policy.card_top_up",
            "limits.total_usd",
            "poll.account",
        ]
    )
    assert "Did you mean alerts_channel?" in " ".join(problems)
    assert "Did you mean card_topup?" in " ".join(problems)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ('[limits]\ntotal_usd = "0"', "limits.total_usd"),
        ('[limits]\ntotal_usd = "-5"', "limits.total_usd"),
        ('[limits]\ntotal_usd = "1e3"', "limits.total_usd"),
        ('[policy.card_topup]\ntiers = [{ above_usd = "500", approvals = 1 }]', "approvals"),
        ("[policy.card_topup]\ntiers = [{ above_usd = 500, approvals = 2 }]", "above_usd"),
        ("[policy.card_topup]\ntiers = [{ approvals = 2 }]", "policy.card_topup.tiers"),
        ("[policy.card_topup]\ntiers = [2]", "policy.card_topup.tiers"),
        ("[policy.card_topup]\nnow = true", "policy.card_topup.now"),
        ("[policy.card_topup]\napprovals = true", "policy.card_topup.approvals"),
        ("[policy]\ncard_topup = 3", "policy.card_topup"),
        ('[alerts.float]\nfloor_usd = "10"\nclear_usd = "9"', "alerts.float.clear_usd"),
        ("[alerts.declines]\ncluster_at = 1", "alerts.declines.cluster_at"),
        ("[alerts.fload]", "alerts.fload"),
        ('[[relay.destinations]]\nname = "x"\nurl = "http://x"\nevents = ["a.b"]', "url"),
        ('[details]\nhosts = ["https://cards.example.com"]', "details.hosts"),
        ('[details]\nhosts = ["*.example.com"]', "details.hosts"),
        ('[details]\nhosts = ["a.example.com; script-src *"]', "details.hosts"),
        ('[details]\nhosts = ["10.0.0.1"]', "details.hosts"),
        ("[details]\nframes = []", "details.frames"),
        ('[[relay.destinations]]\nname = "x"\nurl = "https://x"\nevents = []', "events"),
        ('[poll]\ncards = "0s"', "poll.cards"),
        ('[retention]\nevents = "2h"', "retention.events"),
        ('[retention]\nrelay = "1000s"', "retention.relay"),
        ('[retention]\npayloads = "30d"', "retention.payloads"),
        ("nonsense = 1", "nonsense"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(table: str, key: str) -> None:
    # A bare key at the end of the file would belong to the last table.
    text = table + SMALLEST if table.startswith("nonsense") else SMALLEST + table

    problems = problems_of(text)

    assert any(key in problem for problem in problems), problems


def test_problems_are_plain_sentences_that_say_what_is_meant() -> None:
    problems = problems_of(
        """
        poll = 3
        [slack]
        approvals_channel = "approvals"
        alerts_chanel = "#alerts"
        [people]
        approvers = ["@boss", "boss", 4]
        delegations = [{ from = "@boss", until = 2026-03-01, since = 2026-03-02, reason = " " }]
        [policy.card_topup]
        approvals = 0
        tiers = [{ above_usd = "1e3", approvals = "2" }]
        [policy.card_freeze]
        now = 1
        [limits]
        total_usd = "0"
        [alerts.hours]
        timezone = "Mars/Base"
        quiet = "22-7"
        [relay]
        destinations = 3
        [language_model]
        url = 3
        """
    )

    assert sorted(problems) == [
        "alerts.hours.quiet is '22-7', which is not hours such as \"22:00-07:00\".",
        'alerts.hours.timezone is \'Mars/Base\'; write a name such as "Europe/Berlin" or "UTC".',
        "language_model.url must be a text.",
        "limits.total_usd is '0': The amount must be more than zero, for example 25.00.",
        'people.approvers[2] is \'boss\', which is not an "@group", an "@user" or a Slack id.',
        'people.approvers[3] must be an "@group", an "@user" or a Slack id.',
        "people.delegations[1].reason is needed.",
        'people.delegations[1].to is needed: an "@user" or a Slack id.',
        "people.delegations[1].until is not after since.",
        "policy.card_freeze.now must be true or false.",
        "policy.card_topup.approvals must be at least 1.",
        'policy.card_topup.tiers[1].above_usd is \'1e3\', which is not dollars in quotes, such as "500" or "99.50".',
        "policy.card_topup.tiers[1].approvals must be a whole number.",
        "poll must be a table.",
        "relay.destinations must be a list.",
        "slack.alerts_chanel is not known. Did you mean alerts_channel?",
        'slack.alerts_channel is needed: a "#channel" or a channel id.',
        "slack.approvals_channel is 'approvals', which is not a \"#channel\" or a channel id.",
    ]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("alerts.float.runway_hours", '"24"'),
        ("alerts.float.runway_hours", "24.0"),
        ("alerts.float.runway_hours", "true"),
        ("alerts.float.floor_usd", "1000"),
        ("alerts.float.floor_usd", "1000.0"),
        ("alerts.hours.digest", "09:00:00"),
        ("policy.card_freeze.now", '"true"'),
        ("policy.card_freeze.now", "0"),
        ("poll.account", "60"),
        ("details.hosts", '"cards.example.com"'),
        ("language_model.model", "4"),
    ],
)
def test_no_value_is_converted_from_another_type(setting: str, value: str) -> None:
    assert [problem.split(" ")[0] for problem in problems_of(f"{setting} = {value}\n{SMALLEST}")] == [setting]


def test_a_tier_must_ask_for_more_approvals_than_its_kind_inherits() -> None:
    tier = '[policy.card_topup]\ntiers = [{ above_usd = "500", approvals = 2 }]\n'

    assert Config.parse((SMALLEST + tier).encode()).policy.of("card_topup").most_approvals == 2
    assert problems_of(f"{SMALLEST}[policy.default]\napprovals = 2\n{tier}") == [
        "policy.card_topup.tiers[1].approvals is 2, no more than below that amount: the tier would do nothing."
    ]


def test_tiers_must_go_up_in_amount() -> None:
    text = SMALLEST + (
        "[policy.card_topup]\n"
        'tiers = [{ above_usd = "500", approvals = 2 }, { above_usd = "400", approvals = 3 }]'
    )

    assert problems_of(text) == [
        "policy.card_topup.tiers[2].above_usd must be more than in the tier before it."
    ]


def test_a_file_that_is_not_toml_or_not_there_is_a_sentence(tmp_path: Path) -> None:
    assert "not TOML" in problems_of("[slack")[0]
    with pytest.raises(ConfigError, match="COUNTERSIGN_CONFIG says where"):
        Config.load(tmp_path / "absent.toml")


@pytest.mark.parametrize("text", ["", "0s", "8", "8H", "1.5h", "-1m", "8h ", "٣h", "1w"])
def test_what_is_no_duration(text: str) -> None:
    (problem,) = problems_of(f'{SMALLEST}[poll]\naccount = "{text}"')

    assert problem.startswith("poll.account is ")
    assert problem.endswith('a duration in quotes, such as "90s", "15m", "8h" or "2d".')


def test_a_table_with_other_fields_than_its_value_is_refused_when_it_is_defined() -> None:
    with pytest.raises(TypeError, match="don't have the same fields: relay"):

        class OneLess(ValueTable):
            becomes = Retention
            events: timedelta

    with pytest.raises(TypeError, match="don't have the same fields: alerts"):

        class OneMore(ValueTable):
            becomes = Retention
            events: timedelta
            relay: timedelta
            alerts: timedelta


def test_what_a_policy_of_a_kind_sets_are_fields_of_its_value() -> None:
    assert set(Rule.model_fields) <= {field.name for field in fields(KindPolicy)}
