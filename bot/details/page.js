"use strict";

// The token leaves the address before anything else happens; no server was ever sent it.
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname + location.search);

const at = (id) => document.getElementById(id);
const asText = document.querySelector("main").dataset.manner === "text";
const COPIED = "svc-card-copy-result";
// As the service's page needs them (Embedding contract): without `allow` its copy button does nothing.
const FRAME = { title: "Card details, shown by the card service", width: "400", height: "260", allow: "clipboard-write" };
let ticking = 0;
let frame = null;
let frameOrigin = "";

function tell(text) {
  at("said").textContent = text;
}

function fail(text) {
  clear();
  tell("");
  at("problem").textContent = text;
  at("heading").focus();
}

/** Nothing of the card stays on the page: not when the time is up, not when it is left. */
function clear() {
  clearInterval(ticking);
  frame = null;
  at("place").replaceChildren();
  at("left").textContent = "";
}

function countDown(seconds) {
  const end = Date.now() + seconds * 1000;
  const draw = () => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    const clock = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    at("left").textContent = `Hidden again in ${clock}.`;
    if (left === 0) {
      clear();
      tell("The time is up, and the card details are hidden again. To see them once more, use /card reveal in Slack.");
    }
  };
  draw();
  ticking = setInterval(draw, 1000);
}

async function spend() {
  const asked = { token, ...(asText && { as: "text" }) };
  const answer = await fetch(location.pathname, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(asked),
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
  });
  const found = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(found.error), { again: [429, 503].includes(answer.status) });
  return found;
}

async function show() {
  at("show").disabled = at("other").disabled = true;
  at("problem").textContent = "";
  tell("Asking the card service…");
  let found;
  try {
    found = await spend();
  } catch (error) {
    const ours = error.again !== undefined;
    at("ask").hidden = ours && !error.again;
    at("show").disabled = at("other").disabled = false;
    fail(ours ? error.message : "Countersign cannot be reached. Check your connection, and press the button again.");
    return;
  }
  at("ask").hidden = true;
  tell(found.note ?? "The card details are below.");
  await (asText ? showText(found) : embed(found));
}

function embed(found) {
  frameOrigin = new URL(found.details_url).origin;
  frame = document.createElement("iframe");
  for (const [name, value] of Object.entries(FRAME)) frame.setAttribute(name, value);
  frame.referrerPolicy = "no-referrer";
  frame.src = found.details_url;
  at("place").append(frame);
  countDown(found.expires_in);
}

/** The browser itself gets the details from the service: they never pass through Countersign. */
async function showText(found) {
  const once = { cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" };
  let answer, card;
  try {
    answer = await fetch(found.exchange_url, once);
    card = answer.ok ? (await answer.json()).data : null;
  } catch {
    fail("The card service cannot be reached from this browser. Use /card reveal in Slack again.");
    return;
  }
  if (!card) {
    fail(
      answer.status === 404
        ? "The service's one-time address was used or has expired. Use /card reveal in Slack again."
        : "The card details are not available at the service just now. Wait a little, then use /card reveal in Slack again.",
    );
    return;
  }
  const month = String(card.expiry_month ?? "--").padStart(2, "0");
  const list = document.createElement("dl");
  const rows = [
    ["Card number", String(card.pan).replace(/(.{4})(?=.)/g, "$1 ")],
    ["Expires", `${month}/${card.expiry_year ?? "----"}`],
    ["Security code", String(card.cvv)],
  ];
  for (const [label, value] of rows) {
    const [name, text] = [document.createElement("dt"), document.createElement("dd")];
    [name.textContent, text.textContent] = [label, value];
    list.append(name, text);
  }
  const copy = document.createElement("button");
  copy.type = "button";
  copy.textContent = "Copy card number";
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(String(card.pan));
      tell("The card number was copied.");
    } catch {
      tell("The card number could not be copied: select it instead.");
    }
  });
  at("place").append(list, copy);
  countDown(found.expires_in);
}

// A cue for the eye and nothing more, and only from the frame that is shown here.
addEventListener("message", (event) => {
  if (!frame || event.source !== frame.contentWindow || event.origin !== frameOrigin) return;
  const { type, ok } = event.data ?? {};
  if (type !== COPIED || typeof ok !== "boolean") return;
  tell(ok ? "The card number was copied." : "The card number could not be copied: select it instead.");
  // Whoever stands between the frame and the person passes the word on (Embedding contract).
  if (parent !== window) parent.postMessage({ type, ok }, location.origin);
});
addEventListener("pagehide", clear);

at("show").addEventListener("click", show);
at("other").textContent = asText ? "Show the service's own page instead" : "Show as text instead";
at("other").addEventListener("click", () => {
  location.replace(`${location.pathname}${asText ? "" : "?as=text"}#${token}`);
});
if (token) at("ask").hidden = false;
else fail("This address has no link in it. Open the link in Countersign's direct message to you.");
