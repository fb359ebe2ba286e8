// Ten recipes with the types that a generator made of the simulator's description. Prints the name of each that held.
// Run with the address of the API and a key. `./partner_api` is generated.

import createClient from "openapi-fetch";
import type { components, paths } from "./partner_api";

const [baseUrl, key] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl: baseUrl!, headers: { "X-API-Key": key! } });

function held(name: string, itDid: boolean): void {
  if (!itDid) throw new Error(name);
  console.log(name);
}

function data<T>(answer: { data?: { data: T }; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data.data;
}

const body: components["schemas"]["OrderBody"] = {
  card_holder_name: "Ada Lovelace",
  phone_country_code: 49,
  phone: "15123456789",
  email: "ada@example.com",
};

const me = data(await api.GET("/me"));
held("read the account", me.float.balance_usd === 5000 && me.key.rate_limit_per_minute === 120);

const order = () => api.POST("/cards", { body, params: { header: { "Idempotency-Key": "order-1" } } });
const first = data(await order()).card;
const again = data(await order()).card;
held("order a card once", first.id === again.id && first.card_holder_name === "ADA LOVELACE");

const listed = data(await api.GET("/cards", { params: { query: { limit: 10 } } }));
held("list the cards", listed.cards.length === 1 && listed.cards[0]!.id === first.id);

const path = { cardId: first.id };
const topUp = (amount_usd: number, name: string) =>
  api.POST("/cards/{cardId}/topup", { body: { amount_usd }, params: { path, header: { "Idempotency-Key": name } } });
await topUp(25.5, "top-up-1");
const done = data(await topUp(25.5, "top-up-1"));
held("top up once", done.credited_usd === 25.5 && done.fee_usd === 0);

const read = data(await api.GET("/cards/{cardId}", { params: { path } }));
held("read a card with its balance", read.balance_usd === 25.5);

const refused = await topUp(9999, "top-up-2");
held("be refused for want of funds", refused.response.status === 402 && refused.error?.code === "INSUFFICIENT_FUNDS");

const back = data(
  await api.POST("/cards/{cardId}/unload", {
    body: { amount_usd: 5.5 },
    params: { path, header: { "Idempotency-Key": "unload-1" } },
  }),
);
held("take money off a card", back.unloaded_usd === 5.5);

await api.PUT("/cards/{cardId}/limits", { body: { daily_limit: 100 }, params: { path } });
const limits = data(await api.GET("/cards/{cardId}/limits", { params: { path } }));
held("set a limit", limits.daily_limit === 100 && limits.weekly_limit === null);

await api.PUT("/webhook", { body: { url: "https://hooks.example.com/a" } });
await api.POST("/cards/{cardId}/freeze", { body: { frozen: true }, params: { path } });
const events = data(await api.GET("/events", { params: { query: { type: "card.status_changed" } } })).events;
held("freeze and find the event", events.length === 1 && events[0]!.payload["reason"] === "partner_freeze");

const entries = data(await api.GET("/ledger", { params: { query: { limit: 100 } } })).entries;
const total = entries.reduce((sum, entry) => sum + entry.amount_usd, 0);
const balance = data(await api.GET("/me")).float.balance_usd;
const addresses = data(await api.GET("/funding/addresses")).addresses;
held("add up the ledger", Math.abs(total - balance) < 1e-9 && addresses.length === 3);

// Each of these is a mistake, and the compiler says so.
// @ts-expect-error a field that is not there
api.POST("/cards/{cardId}/topup", { body: { amount: 1 }, params: { path } });
// @ts-expect-error a call that is not there
api.DELETE("/cards/{cardId}", { params: { path } });
// @ts-expect-error a method that is refused
api.PUT("/cards/{cardId}/3ds", { body: { method: "sms" }, params: { path } });
