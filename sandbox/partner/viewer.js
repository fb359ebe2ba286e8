// Draws /_control/view once a second and sends control calls. All text enters as text nodes.

const $ = (id) => document.getElementById(id);
const GOOD = new Set(["ACTIVE", "done", "credited"]);
const BAD = new Set(["BLOCKED", "DELETED", "EXPIRED", "rejected", "refunded"]);
const drawn = new Map();

function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function badge(text) {
  const tone = GOOD.has(text) ? "good" : BAD.has(text) ? "bad" : "wait";
  return element("span", { className: `badge ${tone}` }, text ?? "not yet known");
}

function money(text) {
  if (text === null || text === undefined) return "–";
  const [whole, part = ""] = String(text).replace("-", "").split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return `${String(text).startsWith("-") ? "−" : ""}${grouped}.${part.padEnd(2, "0")}`;
}

// Exact sums of decimal strings: as integers of 10^-10.
const units = (text) => {
  const [whole, part = ""] = String(text).replace("-", "").split(".");
  const value = BigInt(whole + part.padEnd(10, "0").slice(0, 10));
  return String(text).startsWith("-") ? -value : value;
};
const total = (texts) => {
  const sum = texts.map(units).reduce((left, right) => left + right, 0n);
  const digits = (sum < 0n ? -sum : sum).toString().padStart(11, "0");
  const text = `${digits.slice(0, -10)}.${digits.slice(-10).replace(/0+$/, "")}`.replace(/\.$/, "");
  return (sum < 0n ? "-" : "") + text;
};

const time = (stamp) => (stamp ? stamp.replace("T", " ").slice(5, 19) : "–");
const short = (text) => (text && text.length > 18 ? `${text.slice(0, 7)}…${text.slice(-4)}` : text ?? "–");

function notice(text, bad = false) {
  const box = $("notice");
  box.hidden = !text;
  box.className = bad ? "bad" : "";
  box.textContent = text;
}

async function send(path, body, method = "POST") {
  const response = await fetch(`/_control/${path}`, { method, body: body ? JSON.stringify(body) : undefined });
  const answer = await response.json();
  if (!response.ok) {
    notice(answer.error, true);
    return null;
  }
  await refresh();
  return answer;
}

const act = (label, name, path, body) =>
  element("button", { type: "button", ariaLabel: name, onclick: () => send(path, body) }, label);

// columns: [title, value(row) -> node or text, class]. Redrawn only when its rows changed, so that
// focus and open details survive a refresh.
function table(id, rows, columns, empty) {
  const now = JSON.stringify(rows);
  if (drawn.get(id) === now) return;
  drawn.set(id, now);
  if (!rows.length) {
    $(id).replaceChildren(element("p", { className: "empty" }, empty));
    return;
  }
  const head = element("tr", {}, ...columns.map(([title, , kind]) => element("th", { scope: "col", className: kind ?? "" }, title)));
  const body = rows.map((row) => element("tr", {}, ...columns.map(([, value, kind]) => {
    const shown = value(row);
    const sign = kind === "number signed" ? (String(shown).startsWith("−") ? " minus" : " plus") : "";
    return element("td", { className: (kind ?? "") + sign }, shown ?? "–");
  })));
  $(id).replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}

function copyable(text) {
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    notice(`Copied ${text}`);
  };
  return element("button", { type: "button", title: text, ariaLabel: `Copy ${text}`, onclick: copy }, short(text));
}

function buttons(...nodes) {
  const shown = nodes.filter(Boolean);
  return shown.length ? element("span", {}, ...shown) : "";
}

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

function drawTables(view) {
  table("cards", [...view.cards].reverse(), [
    ["Holder", (row) => element("span", {}, row.card_holder_name, element("small", {}, row.partner_ref))], ["Card", (row) => `•• ${row.last4}`, "code"],
    ["Status", (row) => badge(row.status)],
    ["Balance", (row) => (row.balance_readable ? money(row.balance_usd) : "unreadable"), "number"],
    ["Id", (row) => copyable(row.id)], ["", cardActions],
  ], "No card was ordered yet.");
  table("funding", view.funding, [
    ["Submitted", (row) => time(row.created_at), "code"], ["Network", (row) => row.network],
    ["Status", (row) => element("span", {}, badge(row.status), element("small", {}, row.reason ?? ""))], ["Sent", (row) => money(row.amount_usd), "number"], ["Credited", (row) => money(row.credited_usd), "number"],
    ["Hash", (row) => copyable(row.tx_hash)], ["", decisions],
  ], "Nothing was submitted yet.");
  table("transfers", [...view.transfers].reverse(), [
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
    ["At", (row) => time(row.created_at), "code"], ["Type", (row) => row.type],
    ["Payload", (row) => element("details", {}, element("summary", {}, short(row.id)), element("pre", {}, JSON.stringify(row.payload, null, 1))), "wrap"],
  ], "Nothing happened yet that the service tells of.");
}

function drawFigures(view) {
  const own = view.account.id;
  const cards = view.cards.filter((card) => card.account === own);
  const figures = {
    available_usd: view.float.available_usd, balance_usd: view.float.balance_usd, ledger_sum: view.ledger_sum,
    on_cards_usd: total(cards.map((card) => card.balance_usd)), suspense_usd: view.suspense_usd,
  };
  for (const [id, value] of Object.entries(figures)) $(id).textContent = money(value);
  $("suspense_usd").parentElement.classList.toggle("alarm", view.suspense_usd !== "0");
  $("card-count").textContent = `${cards.filter((card) => card.status !== "DELETED").length} open cards`;
  $("clock").textContent = view.clock.replace("T", " ").slice(0, 19) + " UTC";
  $("clock-mode").textContent = view.clock_mode === "frozen" ? "frozen" : "";
  $("freeze-clock").textContent = view.clock_mode === "frozen" ? "Run" : "Freeze";
  $("account").textContent = `${view.account.name} · key ${view.keys[0]?.prefix ?? "–"}…`;
  const box = $("invariants");
  box.textContent = view.invariants.ok ? "Everything adds up" : view.invariants.broken.join("; ");
  box.className = `badge ${view.invariants.ok ? "good" : "bad"}`;
  $("armed-field").hidden = !view.faults.some((fault) => fault.fired < (fault.times ?? 1));
  $("armed").textContent = view.faults.filter((fault) => fault.fired < (fault.times ?? 1))
    .map((fault) => `${fault.operation.split("/").pop()}: ${fault.processor ?? fault.effect}`).join(", ");
}

function offerScenarios(names) {
  const select = $("scenario").elements.name;
  if (select.options.length) return;
  select.append(element("option", { value: "" }, "empty account"), ...names.map((name) => element("option", { value: name }, name)));
  select.value = "happy-day";
}

async function refresh() {
  const badgeNode = $("connection");
  try {
    const view = await (await fetch("/_control/view")).json();
    drawFigures(view);
    drawTables(view);
    offerScenarios(view.scenarios);
    badgeNode.textContent = "live";
    badgeNode.className = "badge good";
  } catch (error) {
    badgeNode.textContent = "not reachable";
    badgeNode.className = "badge bad";
    console.error(error);
  }
}

function onSubmit(id, run) {
  $(id).addEventListener("submit", async (event) => {
    event.preventDefault();
    notice("");
    await run(new FormData(event.target));
  });
}

onSubmit("fund", (form) => send("float", { amount_usd: form.get("amount_usd").trim() }));
onSubmit("fault", (form) => {
  const [effect, detail] = form.get("effect").split(":");
  const more = effect === "processor" ? { processor: detail } : effect === "delay" ? { seconds: Number(detail) } : {};
  return send("faults", { operation: "POST /cards/{cardId}/topup", effect, ...more });
});
onSubmit("transfer", async (form) => {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const hash = "0x" + [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const sender = "0x52908400098527886E0F7030069857D2E4169EE7";
  await send("wallets", { address: sender, owner: "self" });
  const sent = await send("chain/transfers", { network: form.get("network"), tx_hash: hash, senders: [sender], token: "USDC", amount: form.get("amount").trim() });
  if (sent) notice(`Sent. Submit this hash: ${hash}`);
});
onSubmit("scenario", async (form) => {
  const name = form.get("name");
  if (!confirm(`Start over with ${name || "an empty account"}? Cards, float and journal are emptied; API keys stay.`)) return;
  const left = await send("reset", name ? { scenario: name } : {});
  if (!left) return;
  const steps = [left.submit && `submit ${left.submit.tx_hash} on ${left.submit.network}`, ...(left.after ?? []).map((step) => step.path)];
  notice(steps.filter(Boolean).length ? `Then: ${steps.filter(Boolean).join("; ")}` : "");
});
for (const button of document.querySelectorAll("[data-advance]")) {
  button.addEventListener("click", () => send("clock", { advance_seconds: Number(button.dataset.advance) }));
}
$("freeze-clock").addEventListener("click", () => send("clock", { mode: $("freeze-clock").textContent === "Run" ? "realtime" : "frozen" }));
$("disarm").addEventListener("click", () => send("faults", null, "DELETE"));

await refresh();
setInterval(refresh, 1000);
