"""What Countersign does all the time, in plain words: each timer and each loop by its name."""

from __future__ import annotations

from typing import Final

#: After "Countersign can't do this right now:".
IN_WORDS: Final = {
    # timers
    "expire": "end requests that nobody decided, or that could not be sent, in time",
    "remind": "remind people of what waits for them",
    "probe-paused": "try API keys that the card provider has refused",
    "purge": "drop the private details of requests that are over",
    "account": "read the float",
    "funding": "read how far funding is",
    "events": "read the events that were missed",
    "cards": "read the directory of cards",
    "first-cards": "read the directory of cards for the first time",
    "moved": "read cards after money has moved",
    "first-ledger": "read the ledger after a start",
    "unseen": "look for what this database does not know after a start",
    "held": "report what waits after a start",
    "ledger": "compare the float with the ledger",
    "webhook": "check that events are delivered",
    "runway": "tell how long the float lasts",
    "answers": "check that the card provider answers",
    "watch": "watch the float",
    "reveals": "end links to card details",
    "consents": "end confirmations that nobody gave in time",
    "delegations": "report who decides for whom",
    "passkey-resets": "report that passkeys were reset",
    "put-back": "report requests that are not as on record",
    "unreadable": "report rows that cannot be read",
    "standstill": "report what does not work",
    "signed-rows": "compare signed rows with their signatures",
    "alerts": "raise again what was snoozed, and close what is over",
    "digest": "post the daily summary",
    "declines": "close messages about declined purchases",
    "deliveries": "report deliveries that were refused",
    "late-landings": "look for requests that completed late",
    "replicas": "notice processes that stand still",
    "messages": "notice messages that wait for Slack",
    "anchor": "keep the end of the audit log outside the database",
    "anchor-due": "keep the end of the audit log outside the database soon",
    "safe-mode": "look for debits that this copy of the database does not know",
    "policy": "check that the policy can be met",
    "codes": "notice one-time codes that were not sent",
    "audit-check": "check the whole audit log",
    "optimize": "keep the database quick",
    "retention": "forget what is older than the settings say",
    "unread": "forget texts that nobody understood",
    # loops
    "replica": "say that this process works",
    "slack names": "look up the people and channels of the settings",
    "passkeys": "learn from the audit log whose passkeys count",
    "locks": "share the work with other processes",
    "home": "draw the Home tab",
    "outbox": "send messages to Slack",
    "codes loop": "send one-time codes",
    "storage": "notice that nothing can be stored",
    "engine": "find approved requests to send",
    "relay": "send events to other systems",
    "inbox": "handle events of the card provider",
}

_REQUEST: Final = "request:"


def of_request(request_id: str) -> str:
    """The name of what is done for one request when it is due."""
    return f"{_REQUEST}{request_id}"


def is_of_request(name: str) -> bool:
    """Is it the name of what is done for one request?"""
    return name.startswith(_REQUEST)


def in_plain_words(name: str) -> str:
    """What this is for; the name itself where it is of another version."""
    if is_of_request(name):
        return f"do what is due for {name.removeprefix(_REQUEST)}"
    return IN_WORDS.get(name, name)
