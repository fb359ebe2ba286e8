"""Every number and text of every control call at its edges: refused with a sentence, or taken without harm."""

from itertools import groupby
from operator import itemgetter

import pytest

from tests.sandbox_partner.conftest import Api, Hand
from tests.support.extreme_bodies import extremes
from tests.support.walks import drawn


@pytest.mark.sampled
async def test_no_extreme_of_a_control_call_breaks_the_simulator(api: Api, hand: Hand) -> None:
    """One in three by turns, and in `make soak` all."""
    document = (await hand.http.get("openapi.json")).json()
    card_id = (await hand("scenarios/happy-day"))["cards"][0]
    bought = (await hand.buy(card_id))["transaction_id"]
    await hand("snapshots/before")
    broken: set[tuple[str, str, str]] = set()

    async def look(path: str, body: str) -> None:
        for read in ("state", "view"):
            if (await hand.http.get(read)).status_code != 200:
                broken.add((path, f"{read} afterwards", body[-90:]))
        for read in ("/me", "/cards", f"/cards/{card_id}"):
            if (await api.http.get(read, headers={"X-API-Key": api.key})).status_code >= 500:
                broken.add((path, f"{read} afterwards", body[-90:]))

    for path, calls in groupby(drawn([*extremes(document, card_id=card_id)], 3), key=itemgetter(0)):
        on = bought if "/purchases/" in path else card_id
        address = path.removeprefix("/_control/").replace("{value1}", on)
        for _, name, body in calls:
            answer = await hand.http.post(address, content=body)
            if answer.status_code >= 500:
                broken.add((path, name, body[-90:]))
            if answer.is_success:
                await look(path, body)
                await hand("snapshots/before/restore")
        # What was refused changed nothing: one look is enough for all of it, as nothing was put back.
        await look(path, "what was refused")
        await hand("snapshots/before/restore")
    assert sorted(broken) == []
