// What the browser remembers between visits, and the place in the address bar.

const KEY = "standin";

/** Read marks and choices, in local storage. */
export class Remembered {
  #all = JSON.parse(localStorage.getItem(KEY) ?? "{}");

  get(name) {
    return this.#all[name];
  }

  set(name, value) {
    if (this.#all[name] === value) return;
    this.#all[name] = value;
    localStorage.setItem(KEY, JSON.stringify(this.#all));
  }

  readUntil(user, channel) {
    return this.#all[`read ${user} ${channel}`] ?? "0";
  }

  read(user, channel, ts) {
    this.set(`read ${user} ${channel}`, ts);
  }
}

/** `#user=bob&channel=card-approvals&thread=…&tab=home`; names or ids; `app` is the direct message with the app. */
export function readHash() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  return { user: wanted.get("user"), channel: wanted.get("channel"), tab: wanted.get("tab"), thread: wanted.get("thread") };
}

export function writeHash(person, channel, place) {
  if (!person || !channel) return;
  const parts = new URLSearchParams({ user: person.name ?? person.id, channel: channel.is_im ? "app" : channel.name });
  if (channel.is_im) parts.set("tab", place.tab);
  if (place.thread) parts.set("thread", place.thread);
  const hash = `#${parts}`;
  if (hash !== location.hash) history.replaceState(null, "", hash);
}
