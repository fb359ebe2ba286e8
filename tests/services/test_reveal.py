"""Card details: one link after approval, spent once, for one person, and never written down."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from bot.domain.card_details import Manner, Reveals, digest_of
from bot.domain.errors import Expired, InvalidFields, NotAllowed
from bot.domain.requests import Request, State
from bot.partner.secret import Secret
from bot.services import execution
from bot.services.cards import details_link
from bot.services.execution import NotShown, Shown, card_details_access
from bot.services.messages import Outbox, SlackTrouble
from bot.services.operators import programs
from bot.view_models import LinkView
from storage.operators import pauses
from storage.requests import card_details_links
from tests.services.outcome_steps import execute
from tests.support.world import ALICE, BOB, CAROL, Died, World

pytestmark = pytest.mark.by_turns(4)

PAN = "GET /cards/{cardId}/pan"
TOKEN = re.compile(r"https://countersign\.example\.com/details#([A-Za-z0-9_-]{43})")


async def approved(world: World, card: int = 0) -> Request:
    """Asked by Alice, approved by Bob, carried out."""
    request = await world.ask("card_reveal", {"card": world.cards[card]["id"]})
    await world.approve(request)
    return await execute(world, request)


async def link(world: World, request: Request) -> Secret:
    """The token of a new link, as its message would carry it."""
    view = await details_link.make_link(world.core, request.id)
    assert view is not None
    found = TOKEN.fullmatch(view.url.reveal())
    assert found
    async with world.store.begin() as tx:
        await details_link.note_sent(tx, world.core, request.id)
    return Secret(found[1])


async def opened(world: World, token: Secret, manner: Manner = Manner.FRAME) -> Shown:
    return await card_details_access.open_link(world.core, token, manner)


async def refused(world: World, token: Secret) -> NotShown:
    with pytest.raises(NotShown) as caught:
        await opened(world, token)
    return caught.value


async def state(world: World, request: Request) -> str:
    async with world.store.read() as tx:
        found = await card_details_links.get(tx, request.id)
    assert found is not None
    return found.state


async def audited(world: World, action: str) -> list[Any]:
    async with world.store.read() as tx:
        asked = text("SELECT actor, subject, outcome, reason_code, body FROM audit WHERE action = :action")
        return list((await tx.run(asked, {"action": action})).all())


def bytes_on_disk(world: World) -> Iterator[bytes]:
    for path in world.database.parent.glob("bot.db*"):
        yield path.read_bytes()


async def test_nothing_is_asked_of_the_service_before_the_link_is_used(world: World) -> None:
    request = await approved(world)
    await link(world, request)

    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert await world.sent("GET /pan") == []
    assert await world.sent("POST /pan-token") == []


async def test_a_link_shows_the_service_s_page_once_and_the_record_says_who_and_when(world: World) -> None:
    request = await approved(world)
    token = await link(world, request)

    shown = await opened(world, token)

    assert shown.url.reveal().startswith(f"{world.simulator.url}/card-details/")
    assert (shown.expires_in_s, shown.note) == (600, "")
    assert (
        "opened the card details at 2026-03-02 09:00:00 UTC" in (await world.request(request.id)).outcome_text
    )
    (entry,) = await audited(world, "card_details.opened")
    assert entry.actor == ALICE
    assert request.id in entry.subject
    assert world.cards[0]["id"] in entry.body
    again = await refused(world, token)
    assert (again.status, again.reason) == (410, "opened")
    assert len(await world.sent("GET /pan")) == 1


async def test_as_text_the_server_gets_the_exchange_address_and_does_not_open_it(world: World) -> None:
    token = await link(world, await approved(world))

    shown = await opened(world, token, Manner.TEXT)

    assert shown.expires_in_s == 60
    # Unspent: the one use is left for the browser.
    answer = await world.control.get(shown.url.reveal())
    assert answer.status_code == 200
    assert set(answer.json()["data"]) == {"pan", "cvv", "expiry_month", "expiry_year"}


async def test_of_many_who_use_a_link_at_once_one_gets_the_details(world: World) -> None:
    token = await link(world, await approved(world))

    answers = await asyncio.gather(*(opened(world, token) for _ in range(100)), return_exceptions=True)

    assert sum(isinstance(answer, Shown) for answer in answers) == 1
    assert {a.status for a in answers if isinstance(a, NotShown)} == {410}
    assert len(await world.sent("GET /pan")) == 1


async def test_a_link_lives_two_minutes_and_no_longer_than_the_approval(world: World) -> None:
    request = await approved(world)
    first = await link(world, request)
    await world.advance(120)
    assert (await refused(world, first)).reason == "expired"

    await world.advance(15 * 60 - 120 - 30)
    last = await link(world, request)
    await world.advance(31)

    assert (await refused(world, last)).reason == "expired"
    assert await details_link.make_link(world.core, request.id) is None


async def test_a_new_link_puts_an_end_to_the_one_before(world: World) -> None:
    request = await approved(world)
    first = await link(world, request)
    second = await link(world, request)

    assert (await refused(world, first)).reason == "unknown"
    assert isinstance(await opened(world, second), Shown)


async def test_a_wrong_token_is_answered_like_any_unknown_one(world: World) -> None:
    await link(world, await approved(world))

    assert (await refused(world, Secret("A" * 43))).status == 410
    assert (await refused(world, Secret(""))).reason == "unknown"


async def test_only_who_asked_may_have_another_link(world: World) -> None:
    request = await approved(world)
    with pytest.raises(NotAllowed, match="Only who asked"):
        await details_link.another_link(world.core, request.id, BOB)

    await details_link.another_link(world.core, request.id, ALICE)
    await opened(world, await link(world, request))

    with pytest.raises(Expired, match="shown once already"):
        await details_link.another_link(world.core, request.id, ALICE)
    reasons = {entry.reason_code for entry in await audited(world, "card_details.another_link")}
    assert {"not_the_requester", "opened"} <= reasons


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (404, "NOT_FOUND", "does not know this card"),
        (409, "ALREADY_PROCESSED", "no usable answer"),
        (403, "FORBIDDEN", "lacks the scope"),
        (429, "RATE_LIMITED", "rate limit"),
        (502, "UNAVAILABLE", "an internal error"),
        (503, "UPSTREAM_AUTH", "could not sign in"),
    ],
)
async def test_when_the_service_gives_nothing_the_person_is_shown_why_and_may_try_a_new_link(
    world: World, status: int, code: str, words: str
) -> None:
    request = await approved(world)
    token = await link(world, request)
    await world.fault("status", PAN, status=status, code=code)

    displayed = await refused(world, token)

    assert displayed.status == 502
    assert words in str(displayed)
    assert "not shown" in str(displayed)
    assert "nothing was shown" in (await world.request(request.id)).outcome_text
    assert (await refused(world, token)).reason == "used"
    assert len(await world.sent("GET /pan")) == 1, "asked twice"
    await world.advance(61)  # the client keeps away that long after a 429
    assert isinstance(await opened(world, await link(world, request)), Shown)


async def test_a_key_that_is_not_taken_pauses_the_program_as_everywhere(world: World) -> None:
    request = await approved(world)
    token = await link(world, request)
    await world.fault("status", PAN, status=401, code="UNAUTHORIZED")
    assert "did not accept the key" in str(await refused(world, token))
    again = await link(world, request)

    paused = await refused(world, again)

    assert (paused.status, paused.reason) == (503, "paused")
    await programs.resume(world.core, "main")
    assert isinstance(await opened(world, again), Shown), "a pause uses no link up"


async def test_while_people_have_paused_sending_the_link_is_kept(world: World) -> None:
    token = await link(world, await approved(world))
    async with world.store.begin() as tx:
        await pauses.put(tx, "main", by=BOB, by_name="Bob", reason="A card number was seen in a chat")

    displayed = await refused(world, token)

    assert (displayed.status, displayed.reason) == (503, "paused")
    assert await world.sent("GET /pan") == []
    async with world.store.begin() as tx:
        await pauses.drop(tx, "main")
    assert isinstance(await opened(world, token), Shown)


async def test_who_is_no_member_any_more_at_the_click_sees_nothing_for_good(world: World) -> None:
    request = await approved(world)
    token = await link(world, request)
    world.people.change(ALICE, deleted=True)

    assert (await refused(world, token)).status == 410
    world.people.change(ALICE, deleted=False)

    assert (await refused(world, token)).reason == "lapsed"
    assert await world.sent("GET /pan") == []


async def test_while_slack_cannot_say_who_it_is_the_link_is_kept(world: World) -> None:
    token = await link(world, await approved(world))
    world.people.broken = True

    displayed = await refused(world, token)

    assert displayed.status == 503
    assert "was not used" in str(displayed)
    world.people.broken = False
    assert isinstance(await opened(world, token), Shown)


@pytest.mark.parametrize(
    ("status", "word"), [("FROZEN", "frozen"), ("DELETED", "closed"), ("BLOCKED", "blocked")]
)
async def test_a_card_that_changed_meanwhile_is_shown_with_a_word_about_it(
    world: World, status: str, word: str
) -> None:
    token = await link(world, await approved(world))
    async with world.store.begin() as tx:
        await tx.run(text("UPDATE card SET status = :status"), {"status": status})

    shown = await opened(world, token)

    assert word in shown.note


async def test_a_request_changed_by_hand_shows_nothing_and_raises_the_alarm(world: World) -> None:
    request = await approved(world)
    token = await link(world, request)
    async with world.store.begin() as tx:
        other = {"card": world.cards[1]["id"], "id": request.id}
        await tx.run(text("UPDATE request SET subject = :card WHERE id = :id"), other)

    assert (await refused(world, token)).reason == "tampered"

    assert await world.sent("GET /pan") == []
    async with world.store.read() as tx:
        kinds = (await tx.run(text("SELECT kind FROM alert"))).scalars()
        assert "tampered" in list(kinds)


async def test_a_row_planted_for_an_unapproved_request_opens_nothing(world: World) -> None:
    pending = await world.ask("card_reveal", {"card": world.cards[0]["id"]})
    token = Secret("B" * 43)
    async with world.store.begin() as tx:
        await card_details_links.grant(tx, pending.id, tx.now.replace(hour=23))
        await card_details_links.make_link(tx, pending.id, digest_of(token), tx.now.replace(hour=23))

    assert (await refused(world, token)).reason == "tampered"


async def test_a_page_on_a_host_nobody_named_is_not_shown(world: World) -> None:
    request = await approved(world)
    world.rebuild(reveals=Reveals("https://countersign.example.com", frozenset()))
    displayed = await refused(world, await link(world, request))

    assert "details.hosts" in str(displayed)
    assert "/card-details/" not in str(displayed)


async def test_unopened_it_says_so_when_the_approval_has_expired(world: World) -> None:
    sent, unsent = await approved(world), await approved(world, 1)
    await link(world, sent)
    await world.advance(15 * 60 + 61)

    await details_link.end_unopened(world.core)

    assert "was not opened" in (await world.request(sent.id)).outcome_text
    assert "No direct message reached" in (await world.request(unsent.id)).outcome_text
    assert await state(world, sent) == "over"
    with pytest.raises(Expired, match="has expired"):
        await details_link.another_link(world.core, sent.id, ALICE)


async def test_dying_before_the_outcome_is_stored_ends_in_one_right_to_a_link(world: World) -> None:
    request = await world.ask("card_reveal", {"card": world.cards[0]["id"]})
    await world.approve(request)
    with world.dies_at("execution.finishing"):
        await execution.execute(world.core, request.id)
    async with world.store.read() as tx:
        assert await card_details_links.get(tx, request.id) is None
    await world.advance(world.core.lease_s + 1)

    assert (await execute(world, request)).state is State.SUCCEEDED
    assert isinstance(await opened(world, await link(world, request)), Shown)


async def test_dying_before_the_outcome_and_past_the_approval_ends_as_failed_without_a_link(
    world: World,
) -> None:
    request = await world.ask("card_reveal", {"card": world.cards[0]["id"]})
    await world.approve(request)
    with world.dies_at("execution.claimed"):
        await execution.execute(world.core, request.id)
    await world.advance(16 * 60)

    ended = await execute(world, request)

    assert ended.state is State.FAILED
    assert "nobody saw the details" in ended.outcome_text


async def test_dying_between_use_and_answer_leaves_a_dead_link_and_the_right_to_another(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await approved(world)
    token = await link(world, request)

    async def die(*_: object) -> None:
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(type(world.core.partners["main"]), "details", die)
        with pytest.raises(Died):
            await opened(world, token)

    assert (await refused(world, token)).reason == "used"
    assert isinstance(await opened(world, await link(world, request)), Shown)


class Slack:
    """Takes messages, after `troubles` times not knowing."""

    def __init__(self, troubles: int = 0) -> None:
        self.posted: list[LinkView] = []
        self.tried: list[str] = []
        self._troubles = troubles

    async def open_direct(self, user: str) -> str:
        return f"D{user}"

    async def post(
        self, view: Any, *, channel: str, dedupe: str, log_end: str = "", thread_ts: str | None = None
    ) -> Any:
        from bot.services.messages import Posted

        if isinstance(view, LinkView):
            assert channel == f"D{ALICE}", "somebody else was sent the link"
            self.tried.append(view.url.reveal())
            if len(self.tried) <= self._troubles:
                raise SlackTrouble("500 internal_error")
            self.posted.append(view)
        return Posted(channel, f"1.{len(self.tried)}")

    async def update(self, view: Any, *, channel: str, ts: str, dedupe: str, log_end: str = "") -> Any:
        from bot.services.messages import Posted

        return Posted(channel, ts)

    async def find(self, **_: Any) -> None:
        return None


async def test_a_message_that_slack_did_not_take_is_sent_again_with_another_token(world: World) -> None:
    slack = Slack(troubles=2)
    outbox = Outbox(world.core, slack, spacing_s=0)
    request = await approved(world)
    for _ in range(10):
        await outbox.deliver_due()
        await world.advance(3)

    assert len(slack.posted) == 1
    assert len(set(slack.tried)) == 3
    tokens = [TOKEN.fullmatch(url) for url in slack.tried]
    assert "was sent to Alice" in (await world.request(request.id)).outcome_text
    assert [(await refused(world, Secret(t[1]))).reason for t in tokens[:2] if t] == ["unknown", "unknown"]
    assert tokens[2]
    assert isinstance(await opened(world, Secret(tokens[2][1])), Shown)


async def test_token_and_address_are_on_no_disk(world: World) -> None:
    request = await approved(world)
    token = await link(world, request)
    shown = await opened(world, token)
    other = await link(world, await approved(world, 1))
    exchange = await opened(world, other, Manner.TEXT)
    await world.store.checkpoint()

    found = b"".join(bytes_on_disk(world))
    assert digest_of(token).encode() in found, "the search finds what is there"
    for secret in (token, other, shown.url, exchange.url):
        assert secret.reveal().rpartition("/")[2].encode() not in found


async def test_without_a_public_address_nothing_is_recorded(world: World) -> None:
    world.rebuild(reveals=Reveals())

    with pytest.raises(InvalidFields, match="COUNTERSIGN_PUBLIC_URL"):
        await world.ask("card_reveal", {"card": world.cards[0]["id"]})


async def test_a_key_without_the_scope_is_shown_before_and_stops_it(world: World) -> None:
    request = await world.ask("card_reveal", {"card": world.cards[0]["id"]})
    operation = world.core.kinds["card_reveal"].of_stored(request.terms, request.subject_label)

    (concern,) = operation.concerns({"card_status": "ACTIVE", "may_reveal": False})

    assert concern.stops
    assert "cards:pan" in concern.text


async def test_the_requester_cannot_approve_and_the_approver_gets_no_link(world: World) -> None:
    request = await world.ask("card_reveal", {"card": world.cards[0]["id"]}, by=CAROL)
    with pytest.raises(NotAllowed):
        await world.approve(request, by=CAROL)
    await world.approve(request, by=BOB)
    await execute(world, request)

    async with world.store.read() as tx:
        asked = text('SELECT "user", channel FROM outbox WHERE subject LIKE :mine')
        rows = (await tx.run(asked, {"mine": "reveal:%"})).all()
    assert [tuple(row) for row in rows] == [(CAROL, "")]
