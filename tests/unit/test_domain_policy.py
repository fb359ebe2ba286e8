"""Policy values: tiers, inheritance of the default, and a policy that could never be met."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bot import operations
from bot.domain.people import (
    APPROVAL_VALID_FOR,
    APPROVAL_VALID_IN_WORDS,
    Call,
    Delegation,
    KindPolicy,
    Limits,
    Policy,
    approved_while_paused,
    changes,
    described,
    never_met,
)
from bot.domain.people.policy import People, Per, Sums, Tier

KINDS = operations.listed(operations.kinds())
TIERED = KindPolicy(approvals=1, tiers=(Tier(Decimal(5000), 3), Tier(Decimal(500), 2)))


@pytest.mark.parametrize(
    ("exposure", "needed"),
    [("0", 1), ("499.99", 1), ("500", 1), ("500.01", 2), ("5000", 2), ("5000.01", 3), ("1000000000", 3)],
)
def test_a_tier_begins_above_its_amount_and_the_highest_counts(exposure: str, needed: int) -> None:
    assert TIERED.approvals_needed(Decimal(exposure)) == needed


def test_a_tier_never_lowers_what_the_kind_asks_for() -> None:
    assert KindPolicy(approvals=3, tiers=(Tier(Decimal(500), 2),)).approvals_needed(Decimal(501)) == 3


def test_a_kind_without_a_row_has_the_default() -> None:
    policy = Policy(
        people=People(approvers=("@a",)), kinds={"card_topup": TIERED}, default=KindPolicy(approvals=2)
    )
    assert policy.of("card_topup") is TIERED
    assert policy.of("card_close").approvals == 2


def _policy(approvals: int) -> Policy:
    return Policy(
        people=People(approvers=("@a",)),
        kinds={"card_topup": KindPolicy(tiers=(Tier(Decimal(1), approvals),))},
    )


def test_a_policy_that_nobody_could_meet_says_so_for_each_kind_with_the_fix() -> None:
    (problem,) = never_met(_policy(3), KINDS, None, frozenset({"BOB", "CAROL"}))
    assert "policy.card_topup asks for 3 approval(s), but there are only 2 approver(s)" in problem
    assert "Add approvers or ask for fewer" in problem
    assert never_met(_policy(2), KINDS, None, frozenset({"BOB", "CAROL"})) == []


def test_the_only_requester_does_not_count_as_an_approver() -> None:
    approvers = frozenset({"ALICE", "BOB"})
    assert "other than the only requester" in never_met(_policy(2), KINDS, frozenset({"ALICE"}), approvers)[0]
    assert never_met(_policy(2), KINDS, frozenset({"ALICE", "BOB", "CAROL"}), approvers) == []


def test_no_approvers_at_all_is_one_problem_and_not_one_for_each_kind() -> None:
    assert len(never_met(_policy(1), KINDS, None, frozenset())) == 1


def test_every_kind_of_the_contract_has_its_name_and_its_place_once() -> None:
    places = {kind: operations.kinds()[kind].place for kind in KINDS}

    assert len(set(KINDS)) == len(KINDS) == 16
    assert list(places.values()) == [*range(1, len(KINDS) + 1)], places


def test_what_a_kind_asks_for_is_described_setting_by_setting() -> None:
    plain = KindPolicy()
    assert plain.described() == {
        "approvals": "1",
        "expires": "8 hours",
        "tiers": "none",
        "cool_off": "0 seconds",
        "now": "yes",
        "now_per_person": "10",
        "passkey": "no",
    }
    assert KindPolicy(
        approvals=2,
        expires=timedelta(hours=1),
        tiers=(
            Tier(Decimal(500), 2),
            Tier(Decimal("5000.5"), 3, passkey=True),
            Tier(Decimal(700), 2, per=Per.CARD, cool_off=timedelta(minutes=10)),
            Tier(Decimal(900), 4, passkey=True, per=Per.REQUESTER, cool_off=timedelta(hours=2)),
        ),
        cool_off=timedelta(minutes=5),
        now=False,
        now_per_person=3,
        passkey=True,
    ).described() == {
        "approvals": "2",
        "expires": "60 minutes",
        "tiers": "2 above 500 USD, 3 above 5000.5 USD, with a passkey, 2 above 700 USD for one card in 24 hours, sent"
        " 10 minutes later, 4 above 900 USD for one requester in 24 hours, with a passkey, sent 2 hours later",
        "cool_off": "5 minutes",
        "now": "no",
        "now_per_person": "3",
        "passkey": "yes",
    }
    assert plain.call is Call.GROUP
    assert [call.value for call in Call] == ["group", "nobody"], "as the file writes them"


WITH_KEY = Tier(Decimal(500), 1, passkey=True)


@pytest.mark.parametrize(
    ("policy", "above_usd", "cells"),
    [
        (KindPolicy(), None, {"0": False, "1000000": False}),
        (KindPolicy(passkey=True), Decimal(0), {"0": True, "1000000": True}),
        (KindPolicy(tiers=(WITH_KEY,)), Decimal(500), {"499": False, "500": False, "500.01": True}),
        (KindPolicy(tiers=(Tier(Decimal(100), 2), WITH_KEY)), Decimal(500), {"101": False, "501": True}),
        (
            KindPolicy(tiers=(Tier(Decimal(900), 2, passkey=True), WITH_KEY)),
            Decimal(500),
            {"500": False, "501": True, "901": True},
        ),
        (KindPolicy(passkey=True, tiers=(WITH_KEY,)), Decimal(0), {"1": True}),
    ],
)
def test_a_passkey_is_asked_for_always_or_above_the_amount_of_a_tier_that_says_so(
    policy: KindPolicy, above_usd: Decimal | None, cells: dict[str, bool]
) -> None:
    assert policy.passkey_above_usd == above_usd
    for exposure, asked in cells.items():
        assert policy.needs_passkey(Decimal(exposure)) is asked, exposure
    people = People(approvers=("@a",))
    uses = above_usd is not None
    assert Policy(people=people, kinds={"card_topup": policy}).uses_passkeys is uses
    assert Policy(people=people, default=policy).uses_passkeys is uses


def test_the_most_approvals_are_those_of_the_highest_tier_or_of_the_kind() -> None:
    assert TIERED.most_approvals == 3
    assert KindPolicy(approvals=4, tiers=(Tier(Decimal(1), 2),)).most_approvals == 4


def test_what_a_pause_means_for_what_is_approved_meanwhile_is_a_sentence() -> None:
    assert approved_while_paused("Carol paused it") == (
        "Carol paused it. What is approved meanwhile waits 15 minutes at most."
    )
    assert timedelta(minutes=15) == APPROVAL_VALID_FOR
    assert APPROVAL_VALID_IN_WORDS == "15 minutes"


DEFAULTS = {
    "approvals": "1",
    "expires": "8 hours",
    "tiers": "none",
    "cool_off": "0 seconds",
    "now": "yes",
    "now_per_person": "10",
    "passkey": "no",
}


def test_everything_that_says_who_decides_what_is_described() -> None:
    assert described(Policy(people=People(approvers=("@a",)))) == {
        "people.requesters": "every full member",
        "people.approvers": "@a",
        "people.admins": "the approvers",
        "people.same_person": "none",
        "people.settle": "0 seconds",
        "people.delegations": "none",
        "limits.per_requester_usd": "no limit",
        "limits.per_pair_usd": "no limit",
        "limits.total_usd": "no limit",
        **{f"policy.default.{name}": words for name, words in DEFAULTS.items()},
    }
    begins, ends = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 9, tzinfo=UTC)
    away = (
        Delegation("@ann", "@dan", begins, ends, "holiday"),
        Delegation("@bob", "@eve", begins, ends, "ill"),
    )
    full = described(
        Policy(
            people=People(
                requesters=("@r", "@s"), approvers=("@a", "@b"), admins=("@x", "@y"),
                same_person=(("@a", "@a2"), ("@b", "@b2", "@b3")), settle=timedelta(hours=2),
            ),
            kinds={"card_topup": KindPolicy(approvals=2), "card_close": KindPolicy()},
            limits=Limits(Decimal(100), Decimal("50.5"), Decimal(1000)),
            delegations=away,
        )
    )  # fmt: skip
    assert full == {
        "people.requesters": "@r, @s",
        "people.approvers": "@a, @b",
        "people.admins": "@x, @y",
        "people.same_person": "@a = @a2; @b = @b2 = @b3",
        "people.settle": "2 hours",
        "people.delegations": "@ann to @dan, 2026-03-02 to 2026-03-09; @bob to @eve, 2026-03-02 to 2026-03-09",
        "limits.per_requester_usd": "100 USD",
        "limits.per_pair_usd": "50.5 USD",
        "limits.total_usd": "1000 USD",
        **{f"policy.default.{name}": words for name, words in DEFAULTS.items()},
        **{f"policy.card_close.{name}": words for name, words in DEFAULTS.items()},
        **{f"policy.card_topup.{name}": words for name, words in (DEFAULTS | {"approvals": "2"}).items()},
    }
    assert [name for name in full if name.endswith(".approvals")] == [
        "policy.default.approvals",
        "policy.card_close.approvals",
        "policy.card_topup.approvals",
    ], "the kinds in the order of their names"


def test_a_changed_policy_says_what_was_and_what_is_in_the_order_of_now() -> None:
    before = {"same": "1", "changed": "1", "gone": "1"}
    assert changes(before, {"new": "2", "changed": "2", "same": "1"}) == [
        "new: was not set, is 2.",
        "changed: was 1, is 2.",
        "gone: was 1, is not set.",
    ]
    assert changes(before, dict(before)) == []


def test_each_way_not_to_be_met_has_its_sentence() -> None:
    (nobody,) = never_met(Policy(people=People(approvers=("@a", "@b"))), KINDS, None, frozenset())
    assert nobody == (
        "Nobody is in people.approvers (@a, @b), so no request can be approved. Add people to the group in Slack, or"
        " name others in countersign.toml."
    )
    (few,) = never_met(_policy(3), KINDS, None, frozenset({"BOB", "CAROL"}))
    assert few == (
        "policy.card_topup asks for 3 approval(s), but there are only 2 approver(s) in all. Add approvers or ask for"
        " fewer approvals."
    )


def test_accounts_of_one_person_are_one_approver_and_one_requester() -> None:
    three = frozenset({"BOB", "BOB2", "CAROL"})
    same = [("BOB", "BOB2")]
    assert never_met(_policy(3), KINDS, None, three) == []
    assert "only 2 approver(s) in all" in never_met(_policy(3), KINDS, None, three, same)[0]
    # The only requester is an approver with another account: that account does not count.
    alone = never_met(_policy(2), KINDS, frozenset({"BOB2"}), three, same)
    assert "only 1 approver(s) other than the only requester" in alone[0]
    # Two accounts of one person are one requester.
    assert never_met(_policy(2), KINDS, frozenset({"BOB", "BOB2"}), three, same) == alone


def test_a_kind_of_the_file_that_is_not_listed_is_looked_at_once_and_last() -> None:
    policy = Policy(
        people=People(approvers=("@a",)),
        kinds={"other": KindPolicy(approvals=2), "card_topup": KindPolicy(approvals=2)},
    )
    said = never_met(policy, ["card_close", "card_topup"], None, frozenset({"BOB"}))
    assert [one.split(" ", 1)[0] for one in said] == ["policy.card_topup", "policy.other"]


SUMS = Sums(card_usd=Decimal(500), requester_usd=Decimal(900))


@pytest.mark.parametrize(
    ("per", "above_usd", "sums", "reached"),
    [
        (Per.REQUEST, "49.99", None, True),
        (Per.REQUEST, "50", None, False),
        (Per.REQUEST, "50", SUMS, False),
        (Per.REQUEST, "49.99", SUMS, True),
        (Per.CARD, "499.99", SUMS, True),
        (Per.CARD, "500", SUMS, False),
        (Per.REQUESTER, "899.99", SUMS, True),
        (Per.REQUESTER, "900", SUMS, False),
        (Per.CARD, "0", None, False),
        (Per.REQUESTER, "0", None, False),
    ],
)
def test_a_tier_is_reached_above_the_amount_that_it_looks_at(
    per: Per, above_usd: str, sums: Sums | None, *, reached: bool
) -> None:
    tier = Tier(Decimal(above_usd), 3, passkey=True, per=per, cool_off=timedelta(minutes=7))
    policy = KindPolicy(tiers=(tier,), cool_off=timedelta(minutes=1))

    assert tier.is_reached(Decimal(50), sums) is reached
    assert policy.approvals_needed(Decimal(50), sums) == (3 if reached else 1)
    assert policy.waits(Decimal(50), sums) == timedelta(minutes=7 if reached else 1)
    # What takes nothing from the float is no part of a sum.
    assert tier.is_reached(Decimal(0), sums) is (per is Per.REQUEST and Decimal(above_usd) < 0)


def test_the_longest_wait_that_counts_is_the_one() -> None:
    tiers = (
        Tier(Decimal(10), 1, cool_off=timedelta(minutes=9)),
        Tier(Decimal(20), 1, cool_off=timedelta(minutes=3)),
    )
    assert KindPolicy(tiers=tiers).waits(Decimal(10)) == timedelta(0)
    assert KindPolicy(tiers=tiers).waits(Decimal(30)) == timedelta(minutes=9)
    assert KindPolicy(tiers=tiers, cool_off=timedelta(hours=1)).waits(Decimal(30)) == timedelta(hours=1)


def test_a_policy_knows_which_sums_its_tiers_look_at_each_once() -> None:
    card, requester = Tier(Decimal(1), 2, per=Per.CARD), Tier(Decimal(1), 2, per=Per.REQUESTER)
    assert KindPolicy().looks_at_sums == ()
    assert KindPolicy(tiers=(Tier(Decimal(1), 2),)).looks_at_sums == ()
    assert KindPolicy(tiers=(card, requester, card)).looks_at_sums == (Per.CARD, Per.REQUESTER)
    assert [per.value for per in Per] == ["request", "card", "requester"], "as the file writes them"
