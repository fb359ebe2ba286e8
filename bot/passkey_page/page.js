"use strict";

const at = (id) => document.getElementById(id);
const link = location.hash.slice(1);
// What a tab keeps when it is loaded again, in the place of the link.
const OPENED = "opened";
let page = null;
let ticking = 0;

function bytes(text) {
  const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(raw, (letter) => letter.charCodeAt(0));
}

function text(buffer) {
  const raw = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What was shown is over; what is said about it takes its place, so that it is seen on a phone. */
function close() {
  clearInterval(ticking);
  at("left").textContent = "";
  at("button").hidden = true;
  for (const id of ["lead", "lines", "warnings", "rows"]) at(id).replaceChildren();
}

function fail(sentence) {
  close();
  at("said").textContent = "";
  at("problem").textContent = sentence;
  at("heading").focus();
}

async function post(path, body) {
  const answer = await fetch(`${location.pathname}/${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
  });
  const found = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(found.error), { isOurs: true });
  return found;
}

const NO_ANSWER = "Countersign cannot be reached. Check your connection, then press the button in Slack again.";

function fill(found) {
  at("who").textContent = `For ${found.person}`;
  at("heading").textContent = found.heading;
  at("lead").textContent = found.lead;
  for (const [label, value] of found.lines) {
    const row = document.createElement("div");
    const [name, what] = [document.createElement("dt"), document.createElement("dd")];
    [name.textContent, what.textContent] = [label, value];
    row.append(name, what);
    at("lines").append(row);
  }
  for (const [id, texts] of [["warnings", found.warnings], ["rows", found.rows]]) {
    for (const one of texts) {
      const item = document.createElement("li");
      item.textContent = one;
      at(id).append(item);
    }
  }
  if (found.rows.length) at("rows").tabIndex = 0;
  at("button").textContent = found.button;
  at("button").hidden = false;
  at("heading").focus();
  countDown(found.expires_in);
}

function countDown(seconds) {
  const end = Date.now() + seconds * 1000;
  const draw = () => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    at("left").textContent = `Time left: ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    if (left === 0) fail("The time is up, and nothing was recorded. Press the button in Slack again.");
  };
  draw();
  ticking = setInterval(draw, 1000);
}

function withBytes(options) {
  const listed = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));
  const found = { ...options, challenge: bytes(options.challenge) };
  if (options.user) found.user = { ...options.user, id: bytes(options.user.id) };
  if (options.allowCredentials) found.allowCredentials = listed(options.allowCredentials);
  if (options.excludeCredentials) found.excludeCredentials = listed(options.excludeCredentials);
  return found;
}

function asJson(credential, names) {
  const response = {};
  for (const name of names) response[name] = text(credential.response[name]);
  return { id: credential.id, rawId: text(credential.rawId), type: credential.type, response };
}

async function sign(options) {
  const made = await navigator.credentials.get({ publicKey: withBytes(options) });
  return asJson(made, ["authenticatorData", "clientDataJSON", "signature"]);
}

async function create(options) {
  const made = await navigator.credentials.create({ publicKey: withBytes(options) });
  return asJson(made, ["attestationObject", "clientDataJSON"]);
}

/** The signature by a passkey that the person has, before a further one is made. */
let proof = null;

/** What is sent; null where the person has to press again. Some browsers take one question to the device a press. */
async function answerOfDevice(options) {
  if (!options.create) return sign(options.get);
  if (options.get && !proof) {
    proof = await sign(options.get);
    return null;
  }
  return { ...(await create(options.create)), ...(proof ? { proof } : {}) };
}

function askForSecond() {
  at("said").textContent = "That was the passkey you have. Now make the new one: choose where, such as your phone.";
  at("button").textContent = "Make the new passkey";
  at("button").disabled = false;
  at("button").focus();
}

function refusedByDevice(error) {
  if (error.name === "InvalidStateError") return "This device has a passkey here already. Press the button again and choose another device.";
  return "Your device gave no passkey: it was cancelled, took too long, or isn't the device you added. Nothing was recorded. You can try again.";
}

async function act() {
  at("button").disabled = true;
  at("problem").textContent = "";
  at("said").textContent = "Waiting for your device…";
  let answer;
  try {
    answer = await answerOfDevice(page.options);
  } catch (error) {
    at("said").textContent = "";
    at("button").disabled = false;
    at("problem").textContent = refusedByDevice(error);
    return;
  }
  if (!answer) return askForSecond();
  // From here on Countersign decides whether it was in time: it may be recorded when the time shown here is up.
  clearInterval(ticking);
  at("left").textContent = "";
  at("problem").textContent = "";
  at("said").textContent = "Checking…";
  try {
    const done = await post("finish", { token: page.token, answer });
    close();
    at("heading").textContent = "Done";
    at("said").textContent = `${done.text} You can close this page.`;
    at("heading").focus();
  } catch (error) {
    const lost = "Countersign did not answer, so it isn't known whether this was recorded. Look at the message in Slack before you try again.";
    fail(error.isOurs ? error.message : lost);
  }
}

async function begin() {
  if (!link && history.state === OPENED) return fail("This link was used already. Press the button in Slack again.");
  if (!link) return fail("This address has no link in it. Press the button in Slack again.");
  if (!window.PublicKeyCredential) {
    // The link is not used up, and stays in the address: it can be opened elsewhere.
    return fail("This browser cannot use passkeys. Open this address in Safari, Chrome, Edge or Firefox.");
  }
  history.replaceState(OPENED, "", location.pathname);
  try {
    page = await post("open", { token: link });
  } catch (error) {
    return fail(error.isOurs ? error.message : NO_ANSWER);
  }
  fill(page);
}

// Another link in the same tab changes the fragment alone; without this the first request would stay, to be signed.
window.addEventListener("hashchange", () => location.reload());
at("button").addEventListener("click", act);
begin();
