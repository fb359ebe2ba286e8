"""How requests of a kind are handled: what decides whether one may be asked for, sent, repeated or swept.

Each kind declares one `Handling` in one expression; the engine asks it and knows no kind by name. The defaults fit
a call that reads back what it set, may be repeated with the same key and body, and takes nothing from the float.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

DELIVERED_WITHIN: Final = timedelta(minutes=15)
"""Where a kind `needs_deliveries`: one has to have been verified here so lately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Urgency:
    """A kind that cannot wait, and what people are shown while a request of it has not happened.

    It is tried every few seconds, then ever less often, and only what it asks for ends it: no time does. Nobody is
    notified that it happened before the card shows it. Each text completes a message; `meanwhile`, `perhaps` and
    `advice` are sentences.
    """

    not_yet: str  # beside the state word, from the first failed try until it happened: "Not frozen yet"
    done: str  # what it is then: "Frozen"
    not_done: str  # the same where it has ended without having happened: "not frozen"
    meanwhile: str  # what is still possible: "Purchases still go through."
    perhaps: str  # the same where nobody knows whether it happened
    for_now: str  # it happened, and an older call that is on its way may undo it: "Frozen for now"
    unchanged: str  # how it stays where nothing is sent, as a clause: "the card stays as it is"
    advice: str  # what people can do meanwhile, apart from pressing Try now


@dataclass(frozen=True, slots=True, kw_only=True)
class Handling:
    """How requests of one kind are handled. TypeError when it is made, for what no kind may be."""

    # Who may ask, and what must be there.
    asked_by_admins: bool = False
    # The checkbox by which it is sent at once and confirmed by a second person later: "Freeze now". "" = it has none.
    run_now: str = ""
    needs_public_url: bool = False  # its outcome is a page of this bot's web server
    needs_deliveries: bool = False  # useless, or worse, where events do not reach this bot

    # Before approval and before the first send.
    moves_float: bool = False  # its exposure leaves the float
    doubts: tuple[
        str, ...
    ] = ()  # kinds whose unknown outcome on the same target speaks against approving this one
    alone: bool = False  # one at a time for a program, among all kinds with the same subject
    must_recheck: bool = (
        True  # False where acting blind beats not acting: a freeze does not wait for a balance
    )

    # After a doubt.
    repeats: bool = True  # False where the same call again would not do the same: then it is only looked at
    superseded_by: tuple[
        str, ...
    ] = ()  # what sets the same: a newer approved request of these kinds replaces it
    leaves_a_trace: bool = False  # a newer one replaces it, and the API still shows what this one made
    reads_back: bool = True  # False where no call shows what was set: our own records do
    urgency: Urgency | None = None  # None = it can wait; else no time ends it
    # With an urgency: goes before everything else, in a queue and a share of the rate budget of its own.
    is_urgent: bool = field(init=False)
    can_run_now: bool = field(init=False)
    # Our own records tell of it what the API does not: what was set here before, whether deliveries come through.
    needs_our_records: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_urgent", self.urgency is not None)
        object.__setattr__(self, "can_run_now", bool(self.run_now))
        object.__setattr__(self, "needs_our_records", self.needs_deliveries or not self.reads_back)
        for name in ("doubts", "superseded_by"):
            if not isinstance(getattr(self, name), tuple):
                raise TypeError(f"{name} is a tuple of kinds: ({getattr(self, name)!r},)")
        if self.moves_float and self.can_run_now:
            raise TypeError("what moves float waits for a second person, so it cannot run now")
        if self.can_run_now and self.urgency is None:
            raise TypeError(
                "what can run now cannot wait, so it says what people are shown until it happened"
            )
        if self.urgency and (self.moves_float or not self.repeats):
            raise TypeError("what is tried again and again moves no float and may be repeated")
        if self.moves_float and not self.must_recheck:
            raise TypeError("what moves float is checked again before it is sent")
