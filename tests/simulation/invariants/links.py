"""One-time links to card details: each shows them once at most, in time, to who asked (I-21)."""

from __future__ import annotations

from collections import Counter

from tests.simulation.invariants.record import Record, all_text
from tests.simulation.world import DETAILS_URL, START

# A link works for two minutes from its message; whoever uses it at the last moment is still served.
GOOD_FOR_S = 120.0 + 90.0


class Links:
    """What links showed, and where they stand."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def at_the_end(self) -> None:
        """Every link that Slack has shown."""
        made = {}
        for channel, messages in self.known.world.slack.store.messages.items():
            for message in messages:
                text = all_text(message)
                if DETAILS_URL in text:
                    made[text.partition(DETAILS_URL)[2][:40]] = float(message["ts"])
                    self._to_who_asked(channel, text)
        counted = Counter(link for _at, link in self.known.shown)
        for link, count in counted.items():
            if count > 1:
                self.known.broken("I-21 links", f"the link …{link[-4:]} showed card details {count} times")
        for at, link in self.known.shown:
            began = made.get(link.removeprefix(DETAILS_URL)[:40])
            start = self.known.world.loop.time() if began is None else began - START.timestamp()
            if at > start + GOOD_FOR_S and self.known.world.clocks_never_wrong:
                self.known.broken("I-21 links", f"the link …{link[-4:]} showed card details after its time")
        self._opened_once()

    def _to_who_asked(self, channel: str, text: str) -> None:
        store = self.known.world.slack.store
        readers = set(store.channels[channel].members)
        asked = {
            row["requester"]
            for row in self.known.world.rows("SELECT requester, id FROM request")
            if row["id"] in text
        }
        if not channel.startswith("D") or (asked and not asked & readers):
            self.known.broken(
                "I-21 links", f"a link to card details stands in {channel}, read by {sorted(readers)}"
            )

    def _opened_once(self) -> None:
        """S minted one address for each link that was used, and none besides."""
        world = self.known.world
        used = world.rows("SELECT count(*) AS n FROM audit WHERE action = 'card_details.link_used'")[0]["n"]
        asked = self.known.pan_calls
        if asked > used and self.known.restored_from is None:
            self.known.broken(
                "I-21 links", f"the API was asked for card details {asked} times, for {used} links"
            )
