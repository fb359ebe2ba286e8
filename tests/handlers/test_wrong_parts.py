"""What is wrong is named: the part that was mistyped, and no other; nothing advises to submit or repeat anything."""

from tests.handlers.slack_driver import ALICE, SlackDriver


async def answer(driver: SlackDriver, text: str) -> str:
    await driver.command(ALICE, text)
    return str((await driver.shown_to(ALICE))["blocks"])


async def test_a_mistyped_period_is_blamed_and_the_card_before_it_is_not(driver: SlackDriver) -> None:
    card = driver.world.cards[0]
    for named in (card["last4"], card["card_holder_name"], card["partner_ref"]):
        said = await answer(driver, f"/card tx {named} yesterdayy")
        assert "“yesterdayy” isn't a period. Did you mean yesterday?" in said
        assert "No card matches" not in said
    assert "No card matches “nobody yesterdayy”" in await answer(driver, "/card tx nobody yesterdayy")
    for text in ("/card declines lastweek", "/float lastweek", "/float ledger lastweek"):
        assert "“lastweek” isn't a period. Did you mean last week?" in await answer(driver, text)


async def test_a_look_up_of_a_misspelt_card_offers_the_card_that_was_meant(driver: SlackDriver) -> None:
    for text in ("/card show kowalsaa", "/card tx kowalsaa", "/card tx kowalsaa 7d"):
        said = await answer(driver, text)
        assert "No card matches “kowalsaa”. Did you mean MARTA KOWALSKA ••3205" in said, text
    said = await answer(driver, "/card show dave")
    assert "No card matches “dave”" in said
    assert "`/card list` shows them all" in said


async def test_a_filter_that_there_is_not_is_blamed(driver: SlackDriver) -> None:
    assert "“foo” isn't a filter of this list" in await answer(driver, "/card list foo")


async def test_too_many_decimals_are_blamed_in_a_sentence(driver: SlackDriver) -> None:
    for amount in ("0.001", "9999.999", "1.23456"):
        await driver.message(ALICE, f"top up Marta with {amount}", "D0ALICE")
        said = (await driver.messages(ALICE, "D0ALICE"))[-1]["text"]
        assert f"{amount} has too many decimals. Use at most two, such as 9999.99." in said


async def test_a_submission_is_found_by_what_is_shown_of_its_hash_and_nobody_is_told_to_submit(
    driver: SlackDriver,
) -> None:
    first, second = "0x73fff0" + "5" * 54 + "aaaa", "0x73fff0" + "6" * 54 + "bbbb"
    for tx_hash in (first, second):
        await driver.world.tell(
            "chain/transfers",
            {
                "network": "POLYGON",
                "tx_hash": tx_hash,
                "payments": [{"sender": "0x" + "1" * 40, "token": "USDC", "amount": "10"}],
            },
        )
        await driver.core.partners["main"].submit_funding(
            f'{{"tx_hash":"{tx_hash}","network":"POLYGON"}}'.encode()
        )

    for typed in (
        first,
        first.upper().replace("0X", "0x"),
        first[:9],
        f"{first[:10]}…",
        f"{first[:8]}…aaaa",
        f"{first[:8]}...aaaa",
    ):
        assert first in await answer(driver, f"/funding show {typed}"), typed
    assert "fits 2 submissions: 0x73fff0…" in await answer(driver, "/funding show 0x73fff0")
    for typed, said in (
        ("nope", "No submission has the id “nope”"),
        ("0xcdcdcdcd", "No submission has the hash 0xcdcdcdcd"),
        ("0x" + "cd" * 32, "No submission has the hash 0xcdcdcd…cdcd"),
        ("0x1", "isn't a transaction hash"),
        ("4111111111111111", "looks like a card number"),
    ):
        shown = await answer(driver, f"/funding show {typed}")
        assert said in shown
        assert "submit it" not in shown
        assert "4111111111111111" not in shown
