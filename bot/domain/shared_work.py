"""Work of which one process at a time does each part: under these names it is locked.

A channel of Slack, what is read and what happens at one program, and each job that runs on a timer.
"""

from __future__ import annotations

from collections.abc import Collection

HOME = "home"  # redraws Home
SLACK_ACCESS = "slack access"  # reports what Slack refuses
POLICY = "policy"  # records who has which role, and reports a policy that nobody can meet
STORAGE = "storage"  # says in Slack that nothing can be stored
OTHER_EVENTS = "events"  # of programs that are not configured any more

ALWAYS = (HOME, SLACK_ACCESS, POLICY, STORAGE, OTHER_EVENTS)

_CHANNEL, _READS, _EVENTS, _JOB = "channel:", "reads:", "events:", "job:"


def channel(channel_id: str) -> str:
    """The messages of one channel; `@` and a person's id for direct messages."""
    return f"{_CHANNEL}{channel_id}"


def reads(program: str) -> str:
    """What is read at a program on a cadence."""
    return f"{_READS}{program}"


def events(program: str) -> str:
    """The events of a program, one after another: so they stay in order for each of its cards."""
    return f"{_EVENTS}{program}"


def of_programs(programs: Collection[str]) -> list[str]:
    """What is locked of each of these programs."""
    return [lock for program in programs for lock in (reads(program), events(program))]


def job(name: str) -> str:
    """A job that runs on a timer."""
    return f"{_JOB}{name}"
