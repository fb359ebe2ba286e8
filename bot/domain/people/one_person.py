"""Which accounts belong to one person, so that nobody has two seats. Pure.

Accounts are known to be one person's by the reviewed `countersign.toml` (`[people] same_person`) or by their mailbox.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping

# Their mail provider delivers to one mailbox whatever dots the name has.
_WITHOUT_DOTS = frozenset({"gmail.com", "googlemail.com"})


def mailbox_of(address: str) -> str:
    """The mailbox behind an e-mail address, to compare two: in small letters, without `+anything`. Empty for none."""
    name, _, host = unicodedata.normalize("NFKC", address).strip().casefold().rpartition("@")
    name, _, _ = name.partition("+")
    if host in _WITHOUT_DOTS:
        name, host = name.replace(".", ""), "gmail.com"
    return f"{name}@{host}" if name and host else ""


def joined(known: Mapping[str, str], groups: Iterable[Collection[str]]) -> Mapping[str, str]:
    """Account -> one that stands for its person, with the accounts of each of `groups` put together.

    Accounts that are linked through others are one person, too. One that is in no group is its own person and may be
    absent.
    """
    person = dict(known)
    for group in groups:
        meant = {person.get(account, account) for account in group}
        if not meant:
            continue
        first = min(meant)
        person |= dict.fromkeys(meant, first)
        person = {account: first if one in meant else one for account, one in person.items()}
    return person
