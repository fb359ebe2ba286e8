"""Help: what this person may use, in a few lines; examples of this directory; and an answer to what was mistyped."""

import re

from handlers.commands.all_lookups import COMMANDS, LOOK_UPS
from tests.handlers.slack_driver import ALICE, BOB, CAROL, OPS, Json, SlackDriver

REFUSED = ("Only @", "Only admins", "are for approvers and admins", "by an admin (")
# What a look-up needs after its words to get as far as the question who may use it.
ARGUMENTS = {
    "export": "requests 7d",
    "drafts": "off",
    "people": "",
    "show": "R-NONE",
    "cancel": "R-NONE",
    "verify": "R-NONE",
}


async def displayed(driver: SlackDriver, user: str, text: str) -> Json:
    await driver.command(user, text)
    return await driver.shown_to(user)


def lines(message: Json) -> list[str]:
    texts: list[str] = []
    for block in message["blocks"]:
        texts += [block["text"]["text"]] if block["type"] == "section" else []
        texts += [e["text"] for e in block["elements"]] if block["type"] == "context" else []
    return "\n".join(texts).splitlines()


async def test_help_has_every_subcommand_that_this_person_may_use_in_twelve_lines(
    driver: SlackDriver,
) -> None:
    for person in (ALICE, BOB, CAROL):
        listed = str((await displayed(driver, person, "/countersign help"))["blocks"])
        for command in COMMANDS:
            shown = await displayed(driver, person, f"/{command} help")
            assert len(lines(shown)) <= 12, command
            assert [e["text"]["text"] for e in shown["blocks"][-1]["elements"]] == ["More"]
        for cls in driver.core.kinds.values():
            is_theirs = cls.kind in driver.core.offered_kinds and (
                person == CAROL or not cls.handling.asked_by_admins
            )
            assert bool(re.search(rf"`{cls.command[1]}( \[bulk\])?`", listed)) == is_theirs, (
                person,
                cls.kind,
            )
        for (command, word), row in LOOK_UPS.items():
            if row.role is None and row.usage:
                assert f"`{row.usage.removeprefix(f'/{command} ')}`" in listed, (person, command, word)


async def test_help_names_nothing_that_this_person_is_refused_and_leaves_out_nothing_else(
    driver: SlackDriver,
) -> None:
    for person in (ALICE, BOB):
        listed = str((await displayed(driver, person, "/countersign help"))["blocks"])
        for (command, word), row in LOOK_UPS.items():
            if not row.usage or command != "countersign":
                continue
            answer = str(
                await displayed(driver, person, f"/{command} {word} {ARGUMENTS.get(word, '')}".strip())
            )
            refused = any(words in answer for words in REFUSED)
            assert (f"`{row.usage.removeprefix(f'/{command} ')}`" in listed) is not refused, (
                person,
                word,
                answer,
            )


async def test_more_shows_examples_with_a_card_of_this_directory(driver: SlackDriver) -> None:
    known = {card["last4"] for card in driver.world.cards}
    for command in ("card", "countersign"):
        shown = await displayed(driver, ALICE, f"/{command} help")
        await driver.press(ALICE, shown, "answer:look", channel=OPS)
        examples = "\n".join(lines(await driver.shown_to(ALICE)))
        named = set(re.findall(r"(?:card \w+|deposit 50) ([0-9]{4})\b", examples))
        assert named, "an example names a card"
        assert named <= known
        assert "CARD" not in examples
    assert "/card topup" in examples
    assert "/float ledger" in examples


async def test_a_mistyped_command_is_answered_in_three_lines_with_the_one_that_was_meant(
    driver: SlackDriver,
) -> None:
    for typed, meant, command in (
        ("/card tpoup 3205 40", "/card topup", "card"),
        ("/card unfreze 3205", "/card unfreeze", "card"),
        ("/card lst", "/card list", "card"),
        ("/countersign topup 3205 40", "/card topup", "countersign"),
        ("/countersign statsu", "/countersign status", "countersign"),
        ("/float ledgr", "/float ledger", "float"),
        ("/funding sumbit 0x12", "/funding submit", "funding"),
        ("/requests verfy R-AAAA", "/requests verify", "requests"),
    ):
        shown = lines(await displayed(driver, ALICE, typed))
        assert shown[1:] == [f"Did you mean `{meant}`?", f"`/{command} help` shows what you can do."], (
            typed,
            shown,
        )
        assert "not understood. Nothing was requested." in shown[0]
    for typed in ("/countersign foo", "/card dance", "/requests dance", "/float ledger dance"):
        shown = lines(await displayed(driver, ALICE, typed))
        assert len(shown) == 2, shown
        assert shown[1].endswith("help` shows what you can do.")
    assert await driver.requests() == []


async def test_what_is_mistyped_is_not_repeated_where_it_holds_a_card_number(driver: SlackDriver) -> None:
    for typed in ("/card 4111111111111111", "/float 4111111111111111", "/requests 4111111111111111"):
        assert "4111111111111111" not in str((await displayed(driver, ALICE, typed))["blocks"]), typed


async def test_what_could_be_said_names_a_card_of_this_directory(driver: SlackDriver) -> None:
    known = {card["last4"] for card in driver.world.cards} | {
        card["card_holder_name"].split()[0].title() for card in driver.world.cards
    }
    named = set()
    for said in ("tell me a joke", "sing a song", "what's for lunch", "lovely weather"):
        await driver.message(ALICE, said, "D0ALICE")
        await driver.tell("clock", {"advance_seconds": 1.1})
        shown = str((await driver.messages(ALICE, "D0ALICE"))[-1]["blocks"])
        named |= set(re.findall(r"\b[0-9]{4}\b|\b[A-Z][a-z]+(?='s card)", shown))

    assert named
    assert named <= known
