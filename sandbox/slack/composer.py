"""What Slack's composer makes of typed text: names become mentions, markup characters are escaped.

`@bob`, `@card-approvers` and `#card-ops` become ids when they name somebody; text that already has
the form `<@U0BOB>` is taken as it is. Formatting (bold, lists, code) is not parsed.
"""

from __future__ import annotations

import re

from sandbox.slack.json_object import Json
from sandbox.slack.state import BOT_USER, Store

_TOKEN = re.compile(
    r"<@(?P<user>[UW]\w+)(\|[^>]*)?>|<#(?P<channel>C\w+)(\|[^>]*)?>|<!subteam\^(?P<group>S\w+)(\|[^>]*)?>"
    r"|(?<!\w)@(?P<at>[A-Za-z0-9][\w.-]*)|(?<!\w)#(?P<hash>[a-z0-9][\w-]*)"
)


def compose(text: str, store: Store, bot_name: str) -> tuple[str, list[Json]]:
    """The message's `text`, and the elements of its rich_text section."""
    written: list[str] = []
    parts: list[Json] = []
    position = 0
    for match in _TOKEN.finditer(text):
        found = _mention(match, store, bot_name)
        if found is not None:
            _plain(text[position : match.start()], written, parts)
            written.append(found[0])
            parts.append(found[1])
            position = match.end()
    _plain(text[position:], written, parts)
    return "".join(written), parts


def _plain(text: str, written: list[str], parts: list[Json]) -> None:
    if text:
        written.append(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
        parts.append({"type": "text", "text": text})


def _mention(match: re.Match[str], store: Store, bot_name: str) -> tuple[str, Json] | None:
    """The form in text and in rich text of what a name stands for; None for a name of nobody."""
    user, channel, group = match["user"], match["channel"], match["group"]
    if match["at"]:
        user, group = _named(match["at"], store, bot_name)
    elif match["hash"]:
        named = store.channel_named(match["hash"])
        channel = named.id if named is not None else None
    if user in store.people:
        return f"<@{user}>", {"type": "user", "user_id": user}
    if group in store.groups:
        return f"<!subteam^{group}>", {"type": "usergroup", "usergroup_id": group}
    if channel in store.channels:
        return f"<#{channel}>", {"type": "channel", "channel_id": channel}
    return None


def _named(name: str, store: Store, bot_name: str) -> tuple[str | None, str | None]:
    """Ids of the person or the group with this name."""
    if name.lower() == bot_name.lower():
        return BOT_USER, None
    for person in store.people.values():
        if person.name == name.lower():
            return person.id, None
    group = next((one.id for one in store.groups.values() if one.handle == name), None)
    return None, group
