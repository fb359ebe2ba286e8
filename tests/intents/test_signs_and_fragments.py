"""Requests in signs and fragments: emoji and arrows for verbs, orders in lists, own words below a quote, in one breath.

None of the sentences is by an author of `authors`. Half of them only look like one of these, and open nothing.
"""

import pytest

from bot import operations
from bot.intents import KnownCard, Reading, Thread, parse
from tests.support import authors

HASH = "0x" + "5d0e7fb3" * 8


def opened(text: str, thread: Thread | None = None) -> Reading | None:
    parsed = parse(text, authors.facts(), thread, kinds=operations.kinds())
    return next((reading for reading in parsed.readings if reading.opened or reading.takes_back), None)


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        # an emoji is a verb or a thing
        ("❄️ 7716 pls, phone stolen", "freeze_card", {"card": "7716"}),
        ("🧊 nora-h asap", "freeze_card", {"card": "nora-h"}),
        ("5530 🔒 now, weird charges", "freeze_card", {"card": "5530"}),
        (":snowflake: 3018", "freeze_card", {"card": "3018"}),
        ("hugo's card ⏸️ please", "freeze_card", {"card": "hugo"}),
        ("priya raman 🥶 thx. bag gone on the tram", "freeze_card", {"card": "priya raman"}),
        ("put ❄️ on 2675 please", "freeze_card", {"card": "2675"}),
        ("🔓 3018 pls", "unfreeze_card", {"card": "3018"}),
        (":unlock: jonas-w, he found it", "unfreeze_card", {"card": "jonas-w"}),
        ("❄️ off 7716", "unfreeze_card", {"card": "7716"}),
        ("3018 ❄️ off please", "unfreeze_card", {"card": "3018"}),
        ("un❄️ 5589", "unfreeze_card", {"card": "5589"}),
        ("lift the ❄️ on sofia-l", "unfreeze_card", {"card": "sofia-l"}),
        (":snowflake: off 2675 pls", "unfreeze_card", {"card": "2675"}),
        ("💀 2675 for good, she left", "close_card", {"card": "2675"}),
        ("3018 ➕ 60 lunch", "topup_card", {"card": "3018", "amount": "60"}),
        ("3018 ➖ 60, trip off", "unload_card", {"card": "3018", "amount": "60"}),
        ("⏸️ all sending now", "pause_sending", {}),
        ("load 60 on 3018 ❄️ boots for the yard", "topup_card", {"card": "3018", "amount": "60"}),
        ("unfreeze 3018 ❄️➡️☀️", "unfreeze_card", {"card": "3018"}),
        # an arrow between states, amounts and the float
        ("5589: frozen → active pls", "unfreeze_card", {"card": "5589"}),
        ("nora haddad blocked -> live, bank cleared it", "unfreeze_card", {"card": "nora haddad"}),
        ("7716 active → frozen, card lost", "freeze_card", {"card": "7716"}),
        ("3018 → ❄️", "freeze_card", {"card": "3018"}),
        ("float → nora-h 85, taxi", "topup_card", {"card": "nora-h", "amount": "85"}),
        ("3205 120 → float pls", "unload_card", {"card": "3205", "amount": "120"}),
        ("float -> 0948 $40", "topup_card", {"card": "0948", "amount": "40"}),
        ("200 float → ines-d", "topup_card", {"card": "ines-d", "amount": "200"}),
        ("priya-r → float 75.50, trip off", "unload_card", {"card": "priya-r", "amount": "75.5"}),
        ("2675 weekly 400 → 650", "set_limits", {"card": "2675", "limits": {"weekly": "650"}}),
        ("nora-h monthly limit 2k -> 1.5k pls", "set_limits", {"card": "nora-h", "limits": {"monthly": "1500"}}),
        ("markup 1.5% → 1.25%", "set_markup", {"amount": "1.25"}),
        ("change nr 5530 → +49 151 23456789", "change_phone", {"card": "5530", "phone": "+4915123456789"}),
        ("new mobile for nora-h → +49 151 23456789", "change_phone", {"card": "nora-h", "phone": "+4915123456789"}),
        # thousands with a k between the figures
        ("put 3k5 on 3018", "topup_card", {"card": "3018", "amount": "3500"}),
        ("load nora-h with 1k2 please", "topup_card", {"card": "nora-h", "amount": "1200"}),
        ("take $1k5 off 9140", "unload_card", {"card": "9140", "amount": "1500"}),
        # somebody's words above, one's own below
        ("> nora: my bag is gone!!\nfreeze 9140 pls", "freeze_card", {"card": "9140"}),
        ("> hi, the hotel wants 80 more\n> can you help\n3018 +80 please, hotel", "topup_card", {"card": "3018", "amount": "80"}),
        ("&gt; tomas: found it, sorry\nunfreeze 1297 please", "unfreeze_card", {"card": "1297"}),
        (f"> ops: sent {HASH}\nplease submit this deposit, polygon", "submit_funding", {"tx_hash": HASH, "network": "POLYGON"}),
        ("> ines: leaving friday, bye all\nclose 2675 for good please", "close_card", {"card": "2675"}),
        # an order in lines or with slashes
        ("new card\nAda Quist\n+31 6 1234 5678\nada@quist.example\nstart with 250\nsite manager from January", "order_card", {"name": "Ada Quist", "phone": "+31612345678", "email": "ada@quist.example", "amount": "250"}),
        ("card request: Ola Nordmann / +47 912 34 567 / ola@fjord.example / 300 to start", "order_card", {"name": "Ola Nordmann", "phone": "+4791234567", "email": "ola@fjord.example", "amount": "300"}),
        ("pls order card → Ada Quist | +31612345678 | ada@quist.example | first load 90", "order_card", {"name": "Ada Quist", "phone": "+31612345678", "email": "ada@quist.example", "amount": "90"}),
        ("order a card for Ada Quist, +31612345678, ada@quist.example, 120 on it, conference", "order_card", {"name": "Ada Quist", "phone": "+31612345678", "email": "ada@quist.example", "amount": "120"}),
        ("can you get a card made for Ada Quist\n+31612345678\nada@quist.example\n60 to start\nshe stands in for Marta", "order_card", {"name": "Ada Quist", "phone": "+31612345678", "email": "ada@quist.example", "amount": "60"}),
        # a reason behind the request
        ("take 90 back from nora-h, conference over", "unload_card", {"card": "nora-h", "amount": "90"}),
        ("unload 45 from 3018, shoot done", "unload_card", {"card": "3018", "amount": "45"}),
        ("3018 +200 pls, board dinner", "topup_card", {"card": "3018", "amount": "200"}),
        ("top up 9140 with 35 please, office plants", "topup_card", {"card": "9140", "amount": "35"}),
        ("load 60 on 3018, train tickets. invoice follows later", "topup_card", {"card": "3018", "amount": "60"}),
        ("take 120 off 9140, I added too much on Thursday", "unload_card", {"card": "9140", "amount": "120"}),
        ("Could you unload 80 from 3018? Treasury wants spare cash back before year end", "unload_card", {"card": "3018", "amount": "80"}),
        ("please lift the freeze on 4402, Will had it in his coat", "unfreeze_card", {"card": "4402"}),
        ("Shops online keep asking for 3-D Secure and nora-h doesn't have it. Please switch it on.", "set_3ds", {"card": "nora-h"}),
        # a story in one breath
        ("hiya so the garage in nakuru wont take our account and he has to pay cash can you load hugo okonkwo with 90", "topup_card", {"card": "hugo okonkwo", "amount": "90"}),
        ("hello so the harare run got called off and the money is just lying there bring 300 back from nora haddad to the float please", "unload_card", {"card": "nora haddad", "amount": "300"}),
        ("Hugo's load to Durban got pushed to Sunday and he is short on the road. Please put 80 on his card.", "topup_card", {"card": "Hugo", "amount": "80"}),
        ("so her kid dropped the phone in the pool and now she gets nothing please change the number on nora's card to +27635550170", "change_phone", {"card": "nora", "phone": "+27635550170"}),
        ("Yebo, please freeze 9140, sharp", "freeze_card", {"card": "9140"}),
        ("Servus, please load 50 on 3018, danke", "topup_card", {"card": "3018", "amount": "50"}),
        # a word of another language
        ("7716 entsperren pls", "unfreeze_card", {"card": "7716"}),
        ("300 zurück from hugo-o please", "unload_card", {"card": "hugo-o", "amount": "300"}),
        ("close 2675 endgültig please", "close_card", {"card": "2675"}),
        ("aufschlag to 1.5% please", "set_markup", {"amount": "1.5"}),
        ("storno my last request", "undo", {}),
        # a card's number by its link
        ("show me hugo-o's card number, he is at the counter", "reveal_card", {"card": "hugo-o"}),
        ("card no 3018 via link pls", "reveal_card", {"card": "3018"}),
        ("full pan of 9140 by link please", "reveal_card", {"card": "9140"}),
        ("can i see full card nr 2675 via link", "reveal_card", {"card": "2675"}),
        ("could I get the card number of ines-d via the link", "reveal_card", {"card": "ines-d"}),
    ],
)  # fmt: skip
def test_it_opens_its_form_with_just_these_values(text: str, intent: str, slots: dict[str, object]) -> None:
    reading = opened(text)

    assert reading is not None
    assert (reading.intent, dict(reading.slots)) == (intent, slots)


@pytest.mark.parametrize(
    "text",
    [
        "🚫❄️ 7716",
        "don't ❄️ 7716",
        "no ❄️ on 3018 please",
        "is 3018 ❄️?",
        "why is 3018 ❄️",
        "3018 was ❄️ yesterday",
        "9140 still ❄️",
        "❄️ 3018?",
        "❄️ 3018 tomorrow",
        "❄️ or 🔓 3018",
        "❄️ 3018 off",
        "🔓 or 🔒 9140",
        "nora said ❄️ 3018",
        "bob: ❄️ 3018",
        "if he calls ❄️ 3018",
        "not 🔓 3018",
        "3018 ❄️❌",
        "💀 3018 lol",
        "3018 💀",
        "> ❄️ 3018",
        "`❄️ 3018`",
        "if nora calls, ❄️ 9140",
        "should i ❄️ 9140",
        "3018 🔒 pin",
        "🔒 3ds of 3018 question",
        "9140 frozen → active at 9, by bob",
        "9140 went frozen → active",
        "log: 9140 frozen → active",
        "why did 9140 go active → frozen?",
        "9140 frozen → active?",
        "status of 9140: active → frozen",
        "9140 frozen → active since monday",
        "9140 was frozen → active",
        "mail says 9140 active → frozen",
        "9140 active → frozen → active",
        "who set 9140 frozen → active",
        "9140 → frozen by bob",
        "we saw 9140 → frozen",
        "history: 3018 blocked -> active",
        "float → 3018 60?",
        "yesterday float → 3018 60",
        "float → 3018 60 failed",
        "float → 3018 60, arrived?",
        "float → 3018",
        "3018 60 → float never arrived",
        "float → 3018 60 or 70",
        "3018 → 9140 60",
        "float → 3018 about 60",
        "bob moved float → 3018 60",
        "float → ledger 3018 60",
        "5530 daily 500 → 1100?",
        "why 5530 daily 500 → 1100",
        "5530 daily was 500 → 1100 in may",
        "who changed 5530 daily 500 → 1100",
        "markup 2% → 1%?",
        "why markup 2% → 1%",
        "put 1k25 on 3018",
        "put 2k50 on 3018",
        "load 3018 2k5k",
        "put 2k5 or 3k on 3018",
        "put about 2k5 on 3018",
        "put 1k5e on 3018",
        "> freeze 9140\nyes",
        "> freeze 9140\ndo it",
        "> freeze 9140\nplease freeze it",
        "> bob wrote:\nfreeze 9140",
        "> freeze 9140",
        "> load 50 on 3018\ndone",
        "> load 50 on 3018\nno",
        "> bob: freeze 9140\nshould we freeze 9140?",
        "> bob: freeze 9140\nwhat do you think about 9140",
        "> nora\nnora says freeze 9140",
        "> which one?\n9140",
        f"> is {HASH} ours\nno idea, is it on polygon?",
        f"> {HASH}\nwhat is this",
        "> which card\nthe one of nora, frozen?",
        "topup 60 please, marketing",
        "load 300 pls, fb ads",
        "300 more pls, tiktok ads",
        "topup pls 120, ads",
        "unload 45 from 3018, request done",
        "load 50 on 3018, already done",
        "take 90 off 3018, all done",
        "freeze 3018, done",
        "take 40 off 3018, job done",
        "take 40 off 3018. transfer stopped",
        "load 60 on 3018, done",
        "load 60 on 3018 later",
        "load 60 on 3018, invoice first then",
        "load 60 on 3018 when the receipt comes",
        "top up 9140 with 35, office tomorrow",
        "take 120 off 9140 on Thursday",
        "load 60 on 3018, no office plants",
        "please lift the freeze on 4402 if Will has it",
        "please lift the freeze on 4402, Nora has it too and hers as well",
        "load 60 on 4402, Nora 50",
        "Hugo's load to Durban",
        "Hugo's load to Durban got cancelled",
        "Hugo's load of 80 got pushed",
        "her load to 3018 was wrong",
        "so he said bring 300 back from nora haddad to the float please",
        "hello so he told me the run got called off and we should bring 300 back from nora haddad",
        "the driver thinks you load hugo with 90",
        "karte 3018 bitte sperren, die ist weg",
        "bitte die karte 3018 nicht sperren",
        "3018 nicht entsperren",
        "was kostet das, 3018 sperren?",
        "nicht auftauen 3018",
        "storno of the hotel came back",
        "why is aufschlag 1%",
        "zurück from vacation, 3018 300 spent",
        "send me 4402's full card number",
        "give me the pan of 3018",
        "show me the pin of 3018 via link",
        "what is a card number link",
        "cvv of 3018 by link pls",
        "paste the card number of 3018 here",
        "nora wants the card number of 3018 via link, should I?",
        "who saw the card number of 3018",
        "new card\nAda Quist\n+31 6 1234 5678\nada@quist.example\nstart with 250 or 300",
        "new card?\nAda Quist\n+31 6 1234 5678\nada@quist.example",
        "don't order a card for Ada Quist / +31612345678 / ada@quist.example / 300 to start",
        "new card arrived for Ada Quist / +31612345678 / ada@quist.example",
        "order a card for Ada Quist, +31612345678, ada@quist.example, 120 on it, and freeze hugo-o",
        "bob ordered a card for Ada Quist, +31612345678, ada@quist.example, 120 on it",
        "order a card for Ada Quist, +31612345678, ada@quist.example, about 120 on it",
        "Shops keep asking for 3-D Secure and nora-h doesn't have it. Should we switch it on?",
        "Shops keep asking for 3-D Secure and nora-h doesn't have it. Don't switch it on.",
        "Yebo",
        "Moin, who froze 3018?",
        "Zanele, please freeze 3018",
        "❄️ fof 0948 pls",
        "5589 frozen active. jonas back from vacation",
        "9140 blocked, found it",
        "ads, topup pls 300",
        "make Bob 3018 ❄️ off please",
        "Carol decided to 3018 ❄️ off please",
        "❄️ of 0948 pls",
        "🔒of 3018",
        "set 3- secure on nora, ferry website wants code",
        "set 3 -secure for 3018",
        "activate please 3-e Secure on ads-eu",
        "show me hugo-o's card number tonight",
        "show me hugo-o's card number until Friday",
        "Carol wants us to show me hugo-o's card number",
        "order card → Ada Quist | +31612345678 | ada@quist.example | first load 90, he begged",
        "order card → Ada Quist | +31612345678 | ada@quist.example | first load 90 tonight",
        "change nr 5530 → +49 151 23456789 3 times",
        "change nr 5530 → +49 151 23456789. 70",
        "\"> nora: gone\nfreeze 9140 pls\"",
        "❄️ off 0948 🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️🙂❄️",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_opens_nothing(text: str) -> None:
    assert opened(text) is None


def test_what_is_meant_below_a_quote_is_in_the_quote_and_not_what_was_talked_about_before() -> None:
    before = Thread(last_card=KnownCard("9140", "Nora Haddad", "nora-h"))

    assert opened("freeze it", before) is not None
    assert opened("> freeze 3018\nfreeze it", before) is None


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        ("👀 5589", "card_show", {"card": "5589"}),
        ("what went through on nora-h today", "card_transactions", {"card": "nora-h"}),
        ("what did Nora use her card for yesterday", "card_transactions", {"card": "Nora"}),
        ("what is nora-h sitting at", "card_balance", {"card": "nora-h"}),
        ("saldo of 3018 please", "card_balance", {"card": "3018"}),
        ("ledger 3018, oct", "ledger_show", {"card": "3018", "since": "2026-10-01", "until": "2026-10-31"}),
        ("float in/out this week", "ledger_show", {"since": "2026-11-23"}),
        ("transacitons of 9140 last week", "card_transactions", {"card": "9140", "since": "2026-11-16"}),
        ("warum abgelehnt, nora-h at the hotel", "decline_explain", {"card": "nora-h"}),
    ],
)
def test_a_question_in_fragments_is_answered(text: str, intent: str, slots: dict[str, object]) -> None:
    first = parse(text, authors.facts(), kinds=operations.kinds()).first

    assert first.intent == intent
    assert slots.items() <= dict(first.slots).items()


@pytest.mark.parametrize(
    "text",
    [
        "pay the designer 300 usdc from the float to her metamask",
        "approver bob → carol from today",
        "R-7K3M aproved from my side, put it through",
    ],
)
def test_what_is_not_done_here_is_refused(text: str) -> None:
    first = parse(text, authors.facts(), kinds=operations.kinds()).first

    assert any("not offered" in note or "with the buttons" in note for note in first.notes)
