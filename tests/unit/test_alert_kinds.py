"""What a row of the alerts' catalogue may be, and what follows from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.domain.alerts import catalogue, decline_alerts, otp_alerts
from bot.domain.alerts.alert_kind import AlertKind, Severity, Wording, one

KIND = AlertKind(
    name="odd",
    raised_when="…",
    found_by="poller",
    ends="…",
    wordings=one(Severity.WARNING, "Odd: {what}", "It is {what}."),
)


def test_two_kinds_of_one_name_are_refused_and_one_kind_twice_is_one() -> None:
    assert catalogue.collect([KIND, KIND]) == {"odd": KIND}
    with pytest.raises(ValueError, match="odd"):
        catalogue.collect([KIND, replace(KIND)])


def test_an_alert_has_only_a_severity_that_its_wording_has() -> None:
    for kind in catalogue.CATALOGUE.values():
        for case, wording in kind.wordings.items():
            for severity in set(Severity) - set(wording.severities):
                with pytest.raises(ValueError, match="never"):
                    kind.says(case, severity=severity)


def test_the_words_of_others_stay_in_one_line_of_what_an_alert_says() -> None:
    said = KIND.says(what="a\n`b`")
    assert (said.title, said.text) == ("Odd: a ‵b‵", "It is a ‵b‵.")


def test_severities_rank_in_the_order_in_which_they_call_people() -> None:
    ranks = [severity.rank for severity in (Severity.INFO, Severity.WARNING, Severity.CRITICAL)]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == 3


@pytest.mark.parametrize(
    ("severities", "asks", "when"),
    [
        ((Severity.WARNING,), False, ""),
        ((Severity.WARNING,), True, "always"),
        ((Severity.CRITICAL,), False, "always"),
        ((Severity.WARNING, Severity.CRITICAL), False, "it is critical"),
    ],
)
def test_people_are_called_when_it_is_critical_or_asks_for_a_second_person(
    severities: tuple[Severity, ...], asks: bool, when: str
) -> None:
    kind = replace(KIND, wordings={"": Wording(severities, "", "")}, asks_second_person=asks)
    assert kind.calls_when == when


def test_a_name_that_only_another_version_knows_is_a_plain_kind() -> None:
    plain = catalogue.of("who_knows")
    assert (plain.name, plain.anchor, plain.in_digest) == ("who_knows",) * 3
    assert (plain.severities, plain.remedy({})) == ((), None)
    assert catalogue.is_mutable("who_knows")


def test_every_kind_has_a_next_step_and_an_ending_and_may_be_closed_unless_it_says_otherwise() -> None:
    for name, kind in catalogue.CATALOGUE.items():
        assert kind.next_step in kind.buttons, name
        assert catalogue.is_mutable(name) is kind.is_mutable, name
        assert catalogue.of(name) is kind
        assert kind.condition("main", "x") == f"{kind.condition_name or name}:main:x"


def test_a_remedy_follows_from_the_facts_where_the_kind_chooses_one() -> None:
    remedies = {kind.remedies[:1] for kind in catalogue.CATALOGUE.values() if kind.remedy_by is None}
    assert len(remedies) > 2
    for kind in catalogue.CATALOGUE.values():
        if kind.remedy_by is None:
            assert kind.remedy({}) == (kind.remedies[0] if kind.remedies else None)
        else:
            assert kind.remedy({}) is None or kind.remedy({}) in kind.remedies


def test_what_is_not_known_of_a_decline_is_said_as_not_known() -> None:
    assert decline_alerts._merchant("") == "an unnamed merchant"
    assert decline_alerts._merchant("ACME") == "ACME"


def test_a_card_without_a_reference_is_named_as_one() -> None:
    with_it, without = (otp_alerts.nobody_named("Alice ••3205", "5.00 USD", ref) for ref in ("ops-1", None))
    assert "the reference ops-1" in with_it.text
    assert "a card without a reference" in without.text
