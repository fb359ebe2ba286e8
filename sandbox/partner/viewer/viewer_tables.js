// The tables of the viewer: what each row shows and what a tester can do to it.

import { act, badge, buttons, copyable, element, money, short, table, time } from "./viewer_dom.js";

function decisions(row) {
  const at = `funding/${row.id}/decide`;
  const button = (label, decision) => act(label, `${label} funding ${row.id}`, at, { decision });
  if (row.status === "review") return buttons(button("Credit", "credit"), button("Reject", "reject"));
  if (row.status === "credited" && row.credited_usd) return buttons(button("Reverse", "reverse"));
  if (row.status === "pending") return buttons(button("Hold", "hold"));
  return "";
}

function resolutions(row) {
  const waiting = row.state === "in_flight" || row.state === "unresolved";
  if (!waiting || !["topup", "unload"].includes(row.kind)) return "";
  const button = (label, as) => act(label, `Settle ${row.kind} ${row.key} as ${as}`, `${row.kind}s/${row.key}/resolve`, { as });
  return buttons(button("Credited", "credited"), button("Refunded", "refunded"));
}

function cardActions(row) {
  if (row.status === "DELETED") return "";
  const blocked = row.status === "BLOCKED";
  const toggle = act(blocked ? "Unblock" : "Block", `${blocked ? "Unblock" : "Block"} card ${row.last4}`,
    `cards/${row.id}`, { status: blocked ? "ACTIVE" : "BLOCKED" });
  const readable = act(row.balance_readable ? "Hide balance" : "Show balance", `Balance of card ${row.last4} readable or not`,
    `cards/${row.id}`, { balance_readable: !row.balance_readable });
  return buttons(toggle, readable);
}

const arrived = (row) => (row.arrived_at ? (row.final_at ? "arrived" : "arrived, not final") : "on its way");

function chainActions(row) {
  if (row.arrived_at && row.final_at) return "";
  return act(row.arrived_at ? "Finalize" : "Arrive", `Let ${row.tx_hash} ${row.arrived_at ? "become final" : "arrive"}`,
    `chain/transfers/${row.tx_hash}/${row.arrived_at ? "finalize" : "arrive"}`);
}

function exchange(row) {
  const detail = element("pre", {}, JSON.stringify({ body: row.body, response: row.response }, null, 1));
  return element("details", {}, element("summary", {}, row.path.replace("/api/partner/v1", "").split("/").map(short).join("/")), detail);
}

function purchaseActions(row) {
  const open = row.status === "pending" || row.status === "partially_reversed";
  const refundable = open || row.status === "settled" || row.status === "partially_refunded";
  const button = (label, leg) => act(label, `${label} the purchase at ${row.merchant}`, `purchases/${row.transaction_id}/${leg}`, {});
  return buttons(open && button("Settle", "settle"), open && button("Reverse", "reverse"), refundable && button("Refund", "refund"));
}

function fate(row) {
  if (row.delivered) return badge("delivered");
  if (row.next_attempt_at) return badge(row.attempts ? `tried ${row.attempts}, next ${time(row.next_attempt_at).slice(6)}` : "due");
  return badge(row.attempts ? `given up after ${row.attempts}` : "waits for an endpoint");
}

function eventDetail(row) {
  const tried = row.deliveries.map((one) => element("li", {},
    `${time(one.at)} · attempt ${one.number} · ${one.problem ?? one.status}${one.hops ? ` after ${one.hops} redirects` : ""}`));
  return element("details", {}, element("summary", {}, short(row.id)),
    tried.length ? element("ol", { className: "attempts" }, ...tried) : null,
    element("pre", {}, JSON.stringify(row.payload, null, 1)));
}

function challengeActions(row) {
  if (row.state !== "open" || row.complete !== "by code") return "";
  const button = (label, name, body) => act(label, `${name} for ${row.merchant}`, `challenges/${row.id}`, body);
  return buttons(button("Right code", "Enter the right code", { enter: "right" }),
    button("Wrong code", "Enter a wrong code", { enter: "wrong" }), button("Give up", "Abandon the code", { abandon: true }));
}

function depositActions(row) {
  if (row.status !== "pending") return "";
  const button = (label, end) => act(label, `${label} deposit ${row.id}`, `deposits/${row.id}/${end}`, {});
  return buttons(button("Confirm", "confirm"), button("Expire", "expire"), button("Cancel", "cancel"));
}

const TIMERS = {
  month: "monthly card fees", funding: "look at a funding submission again", authorization: "an authorization runs out",
  challenge: "a 3-D Secure code runs out", deposit: "a deposit runs out",
};

export function drawTables(view) {
  const holders = new Map(view.cards.map((card) => [card.id, `${card.card_holder_name} •• ${card.last4}`]));
  table("purchases", view.purchases, [
    ["At", (row) => time(row.at), "code"],
    ["Merchant", (row) => element("span", {}, row.merchant, element("small", {}, holders.get(row.card_id) ?? short(row.card_id))), "wrap"],
    ["Status", (row) => element("span", {}, badge(row.status), element("small", {}, row.decline_code ?? ""))],
    ["USD", (row) => element("span", {}, money(row.amount_usd), element("small", {}, `fee ${money(row.fee_usd)}`)), "number"],
    ["", purchaseActions],
  ], "Nobody bought anything yet.");
  table("challenges", view.challenges, [
    ["At", (row) => time(row.created_at), "code"], ["Merchant", (row) => row.merchant, "wrap"], ["USD", (row) => money(row.amount_usd), "number"],
    ["State", (row) => element("span", {}, badge(row.state), element("small", {}, row.complete === "by code" ? "by code" : "by itself"))],
    ["Id", (row) => copyable(row.id)], ["", challengeActions],
  ], "No purchase asked for a code yet.");
  table("deposits", view.deposits, [
    ["At", (row) => time(row.created_at), "code"], ["Asset", (row) => `${row.asset} on ${row.chain}`], ["Status", (row) => badge(row.status)],
    ["To send", (row) => row.amount_expected, "number"], ["Address", (row) => copyable(row.deposit_address)], ["", depositActions],
  ], "No deposit was quoted yet.");
  table("timers", view.timers, [
    ["Due", (row) => time(row.due_at), "code"], ["What", (row) => TIMERS[row.kind] ?? row.kind], ["Of", (row) => (row.subject ? copyable(row.subject) : "every card")],
  ], "Nothing is waiting for its time.");
  table("cards", view.cards, [
    ["Card", (row) => element("span", {}, row.card_holder_name, element("small", {}, [`•• ${row.last4}`, row.partner_ref].filter(Boolean).join(" · ")))],
    ["Status", (row) => badge(row.status)],
    ["Balance", (row) => (row.balance_readable ? money(row.balance_usd) : "unreadable"), "number"],
    ["Id", (row) => copyable(row.id)], ["", cardActions],
  ], "No card was ordered yet.");
  table("funding", view.funding, [
    ["Submitted", (row) => element("span", {}, time(row.created_at), element("small", {}, row.network)), "code"],
    ["Status", (row) => element("span", {}, badge(row.status), element("small", {}, row.reason ?? ""))], ["Sent", (row) => money(row.amount_usd), "number"], ["Credited", (row) => money(row.credited_usd), "number"],
    ["Hash", (row) => copyable(row.tx_hash)], ["", decisions],
  ], "Nothing was submitted yet.");
  table("transfers", view.transfers, [
    ["Sent", (row) => time(row.sent_at), "code"], ["Network", (row) => row.network],
    ["Paid", (row) => row.payments.map((paid) => `${money(paid.amount)} ${paid.token}`).join(" + "), "number"],
    ["State", arrived], ["Hash to submit", (row) => copyable(row.tx_hash)], ["", chainActions],
  ], "No transfer yet. Send one above, then submit its hash.");
  table("ledger", view.ledger, [
    ["At", (row) => time(row.created_at), "code"], ["Kind", (row) => row.kind], ["USD", (row) => money(row.amount_usd), "number signed"],
    ["Reference", (row) => row.reference ?? row.description, "code wrap"],
  ], "The float has not moved yet.");
  table("idempotency", view.idempotency, [
    ["At", (row) => time(row.created_at), "code"], ["Call", (row) => row.kind], ["State", (row) => badge(row.state)],
    ["USD", (row) => money(row.amount_usd), "number"], ["Key", (row) => row.key, "code wrap"], ["", resolutions],
  ], "No keyed call yet.");
  table("journal", view.journal, [
    ["At", (row) => time(row.at), "code"], ["Method", (row) => row.method, "code"], ["Request", exchange, "wrap"],
    ["Answer", (row) => (row.lost ? `${row.status ?? "none"}, lost` : String(row.status)), "code"], ["Key", (row) => row.idempotency_key, "code wrap"],
  ], "No request yet.");
  table("events", view.events, [
    ["At", (row) => time(row.created_at), "code"], ["Type", (row) => row.type], ["Delivery", fate],
    ["Payload and attempts", eventDetail, "wrap"],
  ], "Nothing happened yet that the service tells of.");
}

