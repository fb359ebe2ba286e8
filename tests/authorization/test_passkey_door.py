"""The same rules on the page for passkeys: a device of one's own opens no door that a click does not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from bot.domain.errors import CountersignError
from bot.services.passkeys import page
from bot.services.passkeys.page import PageRefused
from tests.authorization.cast import ALICE, ANN, APPROVER, DAN, EVERYBODY, MEMBERSHIPS, in_slack
from tests.authorization.rules import OUTSIDE, Cell, refused_with
from tests.authorization.test_every_door import Workspace, a_workspace
from tests.support.passkeys import SITE, Devices, with_passkeys

pytestmark = pytest.mark.asyncio(loop_scope="module")
MEMBERS = [one for one in EVERYBODY if one.is_full]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workspace(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Workspace]:
    with pytest.MonkeyPatch.context() as patch:
        async with a_workspace(tmp_path_factory.mktemp("workspace"), patch) as made:
            made.world.rebuild(policy=with_passkeys(made.core.policy), passkeys=SITE)
            yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def devices(workspace: Workspace) -> Devices:
    """Everybody who may use Countersign has a passkey, whatever they may do with it."""
    made = Devices(workspace.world)
    await made.add(APPROVER.id, ANN.id)  # who confirms has to have one, but for the first
    for person in MEMBERS:
        if person != APPROVER:
            await made.add(person.id, APPROVER.id)
    return made


async def _refusal(workspace: Workspace, devices: Devices, cell: Cell) -> str:
    """What this person is refused with who goes to the page; empty where they approve."""
    request = await workspace.request(cell)
    before = await workspace.stands(request)
    try:
        await devices.approve(request, by=cell.person.id)
    except (PageRefused, CountersignError) as refusal:
        assert await workspace.stands(request) == before, cell
        return str(refusal)
    assert await workspace.stands(request) != before, cell
    workspace.used(request)
    return ""


async def test_each_member_with_a_passkey_is_refused_as_they_are_in_slack(
    workspace: Workspace, devices: Devices
) -> None:
    wrong = []
    for person in MEMBERS:
        for asker in {one.id: one for one in (ALICE, ANN, DAN, person)}.values():
            for state in ("pending", "late", "succeeded"):
                cell = Cell(person, asker, state)
                expected, refusal = (
                    refused_with("approve", cell) or "",
                    await _refusal(workspace, devices, cell),
                )
                if bool(expected) != bool(refusal) or expected not in refusal:
                    wrong.append((person.says, asker.says, state, expected, refusal))
    assert not wrong, (len(wrong), wrong[:5])


@pytest.mark.parametrize(
    "membership", [name for name in MEMBERSHIPS if name not in ("full member", "unknown to Slack")]
)
async def test_who_is_no_member_any_more_is_refused_at_each_step(
    workspace: Workspace, devices: Devices, membership: str
) -> None:
    """Whether that was before the link, before the page, or before the device answered."""
    request = await workspace.request(Cell(APPROVER, ALICE))
    before = await workspace.stands(request)
    member, former = in_slack(APPROVER), in_slack(replace(APPROVER, membership=membership))
    link = await devices.link(request, APPROVER.id)
    second = await devices.link(request, APPROVER.id)
    shown = await devices.open(second)
    answer = devices[APPROVER.id].answer(shown.options)
    workspace.slack.people[APPROVER.id] = former
    workspace.world.clock.advance(61)  # beyond what is shown by an earlier look
    try:
        with pytest.raises(CountersignError, match=OUTSIDE[membership][:20]):
            await devices.link(request, APPROVER.id)
        with pytest.raises(PageRefused, match=OUTSIDE[membership][:20]):
            await devices.open(link)
        with pytest.raises(PageRefused, match=OUTSIDE[membership][:20]):
            await page.finish(workspace.core, shown.token, answer)
    finally:
        workspace.slack.people[APPROVER.id] = member
    assert await workspace.stands(request) == before
