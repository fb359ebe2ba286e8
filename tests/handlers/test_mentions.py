"""Who is called: those who must act now, by the messages that ask for it, and nobody else."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from bot.domain.errors import LookupFailed
from bot.domain.people import Call, Delegation, KindPolicy
from bot.domain.requests import State
from bot.services.core import Directory
from bot.services.messages import reminders
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, CAROL, Json, SlackDriver

GROUP = "S0APPROVERS"


def mentioned(message: Json) -> set[str]:
    """Ids of everybody whom a message notifies."""
    return set(re.findall(r"<(?:@|!subteam\^)([A-Z0-9]+)>", str(message["blocks"])))


async def lines(driver: SlackDriver, request_id: str) -> list[Json]:
    """The thread of a request, the oldest first."""
    card = await driver.card(request_id)
    found = await driver.messages(BOB, APPROVALS)
    return [m for m in found if m.get("thread_ts") == card["ts"] and m["ts"] != card["ts"]]


async def approve(driver: SlackDriver, who: str, request_id: str) -> None:
    await driver.press(who, await driver.card(request_id), "request:approve")
    await driver.submit(who)


def two_approvals(driver: SlackDriver) -> None:
    policy = driver.core.policy
    driver.world.rebuild(policy=replace(policy, kinds={"card_topup": KindPolicy(approvals=2)}))


async def test_a_new_request_calls_the_approvers_once_and_nobody_else(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    card = await driver.card(request.id)

    assert mentioned(card) == {GROUP}
    assert str(card["blocks"]).count(GROUP) == 1
    assert card["text"].startswith("SANDBOX · Alice")
    assert f"<!subteam^{GROUP}>: please review" in card["text"]


async def test_the_second_approval_of_two_is_asked_for_in_the_thread_and_a_decision_calls_nobody(
    driver: SlackDriver,
) -> None:
    two_approvals(driver)
    request = await driver.ask_top_up()

    await approve(driver, BOB, request.id)
    (first,) = await lines(driver, request.id)
    assert mentioned(first) == {GROUP}
    assert "1 of 2" in first["text"]
    assert "1 more approval is needed" in first["text"]

    await approve(driver, CAROL, request.id)
    assert [mentioned(line) for line in await lines(driver, request.id)] == [{GROUP}, set()]
    assert mentioned(await driver.card(request.id)) == set()


async def test_people_whom_the_file_names_are_called_by_themselves_and_never_who_may_not_act(
    driver: SlackDriver,
) -> None:
    policy = driver.core.policy
    people = replace(policy.people, approvers=(ALICE, BOB, CAROL))
    driver.world.rebuild(policy=replace(policy, people=people, kinds={"card_topup": KindPolicy(approvals=2)}))
    request = await driver.ask_top_up()
    assert mentioned(await driver.card(request.id)) == {BOB, CAROL}

    await approve(driver, BOB, request.id)
    (line,) = await lines(driver, request.id)
    assert mentioned(line) == {CAROL}


async def test_who_decides_in_somebodys_place_is_called_beside_the_group(driver: SlackDriver) -> None:
    now = driver.world.clock.now()
    away = Delegation(BOB, "U0DAVE", now, now.replace(year=now.year + 1), "On leave")
    await driver.tell("people", {"id": "U0DAVE", "name": "dave", "real_name": "Dave Lindqvist"})
    driver.world.rebuild(policy=replace(driver.core.policy, delegations=(away,)))

    request = await driver.ask_top_up()

    assert mentioned(await driver.card(request.id)) == {GROUP, "U0DAVE"}


async def test_a_reminder_calls_again_and_only_while_somebody_has_to_act(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    await driver.world.advance(16 * 60)
    await reminders.remind(driver.core)
    await driver.settle()

    (reminder,) = await lines(driver, request.id)
    assert mentioned(reminder) == {GROUP}


async def test_a_policy_may_call_nobody(driver: SlackDriver) -> None:
    policy = driver.core.policy
    quiet = replace(policy, kinds={"card_topup": KindPolicy(approvals=2, call=Call.NOBODY)})
    driver.world.rebuild(policy=quiet)

    request = await driver.ask_top_up()
    await approve(driver, BOB, request.id)

    assert mentioned(await driver.card(request.id)) == set()
    assert [mentioned(line) for line in await lines(driver, request.id)] == [set()]
    assert "@card-approvers: please review" in (await driver.card(request.id))["text"]


async def test_a_freeze_done_at_once_asks_the_approvers_to_confirm_until_one_has(driver: SlackDriver) -> None:
    await driver.command(ALICE, f"/card freeze {driver.world.cards[0]['id']}")
    await driver.submit(ALICE, {"reason": "Lost phone", "run_now": ["yes"]})
    await driver.submit(ALICE)
    request = await driver.newest()
    assert mentioned(await driver.card(request.id)) == set(), "before it happened nobody can confirm it"

    await driver.world.run_due()
    await driver.settle()
    assert (await driver.newest()).state is State.SUCCEEDED
    assert mentioned(await driver.card(request.id)) == {GROUP}
    assert mentioned((await lines(driver, request.id))[-1]) == {GROUP}, "an edit notifies nobody"

    await driver.press(BOB, await driver.card(request.id), "request:confirm")
    assert mentioned(await driver.card(request.id)) == set()


class Away:
    """Slack cannot say who is in a group."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def __getattr__(self, name: str) -> Any:
        return getattr(self._directory, name)

    async def called(self, names: Sequence[str], among: Collection[str] | None = None) -> Sequence[str]:
        raise LookupFailed("Slack does not answer.")


async def test_a_message_is_posted_though_slack_cannot_say_who_is_in_the_group(driver: SlackDriver) -> None:
    driver.world.rebuild(directory=Away(driver.core.directory))

    request = await driver.ask_top_up()

    card = await driver.card(request.id)
    assert mentioned(card) == set()
    assert "@card-approvers: please review" in card["text"]


async def test_approving_takes_two_clicks_and_the_window_closes_by_itself(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    assert (await driver.modal(BOB))["title"]["text"] == "Approve"

    await driver.submit(BOB)

    assert (await driver.see(BOB))["views"] == []
    assert (await driver.newest()).state is State.APPROVED


async def test_a_decision_that_takes_long_is_shown_in_the_window_in_the_end(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    await driver.tell("faults", {"method": "users.info", "effect": "delay", "seconds": 0.8, "times": 1})

    await driver.submit(BOB)

    assert "You approved it: 1 of 1." in str(await driver.modal(BOB))


async def test_a_decision_that_is_refused_says_why_in_the_window(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    await approve(driver, CAROL, request.id)

    await driver.submit(BOB)

    assert f"{request.id} is approved already" in str(await driver.modal(BOB))
