"""With which outbox id each message was posted: an edit writes its own id over it, so only who saw the post knows."""

from typing import Any

from sandbox.slack.state.store import Store

Json = dict[str, Any]


def dedupe_of(message: Json) -> str:
    """The outbox id that a message carries now, that of its newest edit; or nothing."""
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return str(payload.get("dedupe", ""))


class PostedIds:
    """Watches the messages of a Slack stand-in from now on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._first: dict[tuple[str, str], str] = {}
        put = store.put_message

        def put_message(channel: str, message: Json) -> None:
            self._first.setdefault((channel, message["ts"]), dedupe_of(message))
            put(channel, message)

        store.put_message = put_message  # type: ignore[method-assign]

    def all(self) -> list[str]:
        """Of every message that stands, in any channel, thread or conversation, and was posted with an id."""
        found = (
            self._first.get((channel, message["ts"]), "")
            for channel, messages in self._store.messages.items()
            for message in messages
        )
        return [one for one in found if one]
