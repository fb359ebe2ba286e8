// The wire to the stand-in: acts over HTTP, what a person sees over a WebSocket that comes back by itself.

const FIRST_RETRY_MS = 300;
const LONGEST_RETRY_MS = 5000;

/** A refusal or failure that a person should be told in its own words. */
export class ActError extends Error {}

export async function control(path, body, method = "POST") {
  let response;
  try {
    response = await fetch(`/_control/${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error instanceof TypeError) throw new ActError("The stand-in does not answer. Is it still running?");
    throw error;
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok || answer.ok === false) throw new ActError(answer.error ?? `The stand-in answered ${response.status}.`);
  return answer;
}

/** One person's view of the world, kept live until `close()`. */
export class Live {
  #socket = null;
  #timer = null;
  #wait = FIRST_RETRY_MS;
  #closed = false;

  constructor(user, { see, toast, status }) {
    this.user = user;
    this.on = { see, toast, status };
    status(user, "connecting");
    this.#open();
  }

  #open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.#socket = new WebSocket(`${scheme}://${location.host}/_control/live?user=${encodeURIComponent(this.user)}`);
    this.#socket.addEventListener("message", (event) => this.#heard(JSON.parse(event.data)));
    this.#socket.addEventListener("close", () => this.#again());
  }

  #heard(message) {
    this.#wait = FIRST_RETRY_MS;
    this.on.status(this.user, "connected");
    if (message.type === "see") this.on.see(this.user, message.see);
    else if (message.type === "toast") this.on.toast(this.user, message.text);
    else console.error(`Unknown live message: ${message.type}`, message);
  }

  #again() {
    if (this.#closed) return;
    this.on.status(this.user, "reconnecting");
    this.#timer = setTimeout(() => this.#open(), this.#wait);
    this.#wait = Math.min(LONGEST_RETRY_MS, this.#wait * 2);
  }

  /** Tries at once instead of waiting for the next turn. */
  retry() {
    if (this.#closed || this.#socket.readyState !== WebSocket.CLOSED) return;
    clearTimeout(this.#timer);
    this.#open();
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket.close();
  }
}
