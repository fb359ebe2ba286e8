// Draws /_control/view once a second and sends control calls.

import { $, element, money, notice, refreshWith, send } from "./viewer_dom.js";
import { offerClock, offerConsole, showClock } from "./viewer_console.js";
import { drawTables } from "./viewer_tables.js";

function drawFigures(view) {
  const figures = {
    available_usd: view.float.available_usd, balance_usd: view.float.balance_usd, ledger_sum: view.ledger_sum,
    on_cards_usd: view.on_cards_usd, suspense_usd: view.suspense_usd,
  };
  for (const [id, value] of Object.entries(figures)) $(id).textContent = money(value);
  $("suspense_usd").parentElement.classList.toggle("alarm", view.suspense_usd !== "0");
  $("card-count").textContent = `${view.open_cards} open cards`;
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

function drawEndpoint(view) {
  const [hook] = view.webhooks;
  const way = { normal: "", pause: " Deliveries wait.", duplicate: " Each arrives twice.", reorder: " The newest arrives first.", drop: " All get lost." };
  const host = hook ? new URL(hook.url).hostname : "";
  const leads = hook ? view.delivery_map[host] ?? "nowhere on this machine (map it with the deliveries call)" : "";
  $("endpoint").textContent = (hook ? `${hook.url} leads to ${leads}.` : "No endpoint is registered.") + way[view.delivery_mode];
}

function offerCards(cards) {
  const select = $("purchase").elements.card_id;
  const open = cards.filter((card) => card.status !== "DELETED").reverse();
  const wanted = open.map((card) => card.id).join();
  if (select.dataset.offered === wanted) return;
  const before = select.value;
  select.dataset.offered = wanted;
  select.replaceChildren(...open.map((card) => element("option", { value: card.id }, `${card.card_holder_name} •• ${card.last4}`)));
  if (open.some((card) => card.id === before)) select.value = before;
}

function offerScenarios(names) {
  const select = $("scenario").elements.name;
  if (select.options.length) return;
  select.append(element("option", { value: "" }, "empty account"), ...names.map((name) => element("option", { value: name }, name)));
  select.value = "happy-day";
}

function offerDeclines(reasons) {
  const group = $("declines");
  if (group.children.length) return;
  group.append(...reasons.map(({ code, message }) => element("option", { value: `decline:${code}`, title: message }, code.replaceAll("_", " "))));
}

async function refresh() {
  const badgeNode = $("connection");
  try {
    const view = await (await fetch("/_control/view")).json();
    drawFigures(view);
    showClock(view);
    $("chaos-now").textContent = view.chaos ? `${view.chaos.percent} % go wrong` : "off";
    drawTables(view);
    drawEndpoint(view);
    offerCards(view.cards);
    offerScenarios(view.scenarios);
    offerDeclines(view.decline_reasons);
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
onSubmit("purchase", async (form) => {
  const [card, amount, merchant, kind] = ["card_id", "amount_usd", "merchant", "kind"].map((name) => form.get(name)?.trim() ?? "");
  if (!card) { notice("Order a card first.", true); return; }
  if (kind.startsWith("3ds")) {
    const complete = kind === "3ds" ? "at once" : "by code";
    const asked = await send(`cards/${card}/3ds`, { amount_usd: amount, merchant, complete });
    if (asked) notice(asked.sms_code ? `The phone shows the code ${asked.sms_code}.` : "The cardholder is asked for a one-time code.");
    return;
  }
  const [way, code] = kind.split(":");
  const how = way === "decline" ? { decline_code: code } : { kind };
  const made = await send("purchases", { card_id: card, amount_usd: amount, merchant, ...how });
  if (made) notice(made.outcome === "declined" ? `Declined: ${made.decline_code}` : `Authorized: ${money(made.amount_usd)} with a fee of ${money(made.fee_usd)}`);
});
onSubmit("way", (form) => send("deliveries", { mode: form.get("mode") }));
onSubmit("chaos", (form) => send("chaos", { percent: Number(form.get("percent")), seed: form.get("seed") || "chaos" }));
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

offerClock();
await offerConsole();
refreshWith(refresh);
await refresh();
setInterval(refresh, 1000);
