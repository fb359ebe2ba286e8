// The page on which one person plays the whole team: state, live updates, and what goes where.

import { avatar, hueOf } from "./avatar.js";
import { block } from "./blocks.js";
import { Drafts, composer, withIds } from "./composer.js";
import { refreshRelativeTimes } from "./dates.js";
import { h, reconcile } from "./dom.js";
import { Values, staticOptions, viewValues } from "./fields.js";
import { fillHint } from "./hint.js";
import { appMark, icon } from "./icons.js";
import { isReply, renderMessages, repliesTo, topLevel } from "./messages.js";
import { Modals, keyed } from "./modal.js";
import { ActError, Live, control } from "./net.js";
import { toast } from "./popups.js";
import { players, renderChannels, renderSwitcher, switcherKeys } from "./rail.js";
import { Remembered, readHash, writeHash } from "./remembered.js";
import { faultTools, renderWire } from "./wire.js";

const $ = (id) => document.getElementById(id);
const FIRST_USER = "U0ALICE";
const FIRST_CHANNEL = "card-ops";
const POINT_MS = 2500;
const PERMALINK = /^https:\/\/[\w-]+\.slack\.com\/archives\/(\w+)\/p(\d{10})(\d{6})/;

class Page {
  sees = new Map();
  values = new Values();
  drafts = new Drafts();
  #kept = new Remembered();
  #lives = new Map();
  #states = new Map();
  #places = new Map();
  #memories = new Map();
  #worlds = new Map();
  #due = false;
  #newFrom = null;
  #wanted = readHash();

  constructor() {
    this.user = null;
    this.modals = new Modals($("modals"), this);
    this.main = composer({ label: "Message", drafts: this.drafts, place: () => this.#mainPlace(), send: (text) => this.#send(text, null) });
    this.side = composer({ label: "Reply", drafts: this.drafts, place: () => this.#threadPlace(), send: (text) => this.#send(text, this.place().thread) });
    $("composer").append(this.main.node);
    $("thread-composer").append(this.side.node);
    this.#furnish();
    this.play(FIRST_USER);
  }

  // What is known.

  see() {
    return this.sees.get(this.user) ?? null;
  }

  place() {
    return this.#places.get(this.user) ?? { channel: null, tab: "messages", thread: null };
  }

  channel() {
    return this.see()?.channels.find((each) => each.id === this.place().channel) ?? null;
  }

  world() {
    return this.#worlds.get(this.user) ?? worldOf({ people: [], groups: [], channels: [] }, this);
  }

  /** Changes when names that messages show have changed. */
  worldMark() {
    return this.world().mark;
  }

  appName() {
    return this.see()?.app?.name ?? "Countersign";
  }

  hasDraft(channel) {
    return this.drafts.get(`${this.user}|${channel}|`) !== "";
  }

  readUntil(user, channel) {
    return this.#kept.readUntil(user, channel);
  }

  memory(key) {
    if (!this.#memories.has(key)) this.#memories.set(key, {});
    return this.#memories.get(key);
  }

  /**
   * What blocks of one message or view need; `target` says to the stand-in where a click happened. A click in a
   * view also tells what its other controls hold.
   */
  context(scope, target, blocks = null) {
    return {
      world: this.world(), scope, values: this.values, memory: (key) => this.memory(key),
      act: (body) => this.act("click", { ...target, ...body, ...(blocks ? { values: viewValues(blocks, scope, this.values) } : {}) }),
      suggest: async (blockId, actionId, value) => {
        const found = await this.act("suggest", { ...target, block_id: blockId, action_id: actionId, value });
        return found ? staticOptions(found) : [];
      },
    };
  }

  // What a person does.

  /** Sends an act as the person being played; tells of a failure and answers null, else the outcome. */
  async act(kind, body) {
    try {
      const answer = await control(`act/${kind}`, { user: this.user, ...body });
      return answer.outcome ?? answer;
    } catch (error) {
      if (!(error instanceof ActError)) throw error;
      toast(error.message);
      return null;
    }
  }

  play(user) {
    if (user === this.user) return;
    const before = this.place();
    this.user = user;
    if (!this.#lives.has(user)) this.#live(user);
    if (this.place().channel === null) this.#settle(user, before);
    this.#newFrom = null;
    this.#entered();
    this.#draw();
  }

  openChannel(id) {
    const channel = this.see()?.channels.find((each) => each.id === id);
    if (!channel) {
      toast("This person cannot see that channel.");
      return;
    }
    this.#go({ channel: id, tab: channel.is_im ? this.place().tab : "messages", thread: null });
    this.main.focus();
  }

  openTab(tab) {
    this.#go({ ...this.place(), tab });
    this.act("home", { tab });
  }

  openThread(ts) {
    this.#go({ ...this.place(), thread: ts });
    if (ts) this.side.focus();
  }

  /** Goes to a message that a permalink names and points at it. */
  openMessage(channelId, ts) {
    const message = this.see()?.channels.find((each) => each.id === channelId)?.messages.find((each) => each.ts === ts);
    if (!message) {
      toast("This person cannot see that message.");
      return;
    }
    this.openChannel(channelId);
    if (isReply(message)) this.openThread(message.thread_ts);
    const node = document.querySelector(`[data-ts="${CSS.escape(ts)}"]`);
    node?.scrollIntoView({ block: "center" });
    node?.classList.add("pointed-at");
    setTimeout(() => node?.classList.remove("pointed-at"), POINT_MS);
  }

  focusComposer() {
    this.main.focus();
  }

  /** A modal covers the conversation: nothing under it can be reached. */
  covered(yes) {
    for (const id of ["columns", "wire"]) $(id).inert = yes;
  }

  insert(text) {
    this.main.insert(text);
  }

  #go(place) {
    const moved = place.channel !== this.place().channel;
    this.#places.set(this.user, place);
    if (moved) this.#entered();
    this.#draw();
  }

  #entered() {
    const channel = this.channel();
    const until = channel ? this.readUntil(this.user, channel.id) : null;
    const fresh = channel && topLevel(channel).some((each) => Number(each.ts) > Number(until) && each.user !== this.user);
    this.#newFrom = fresh && Number(until) > 0 ? until : null;
  }

  async #send(text, thread) {
    const channel = this.channel();
    if (!channel) return false;
    if (!text.startsWith("/")) return (await this.act("message", { channel: channel.id, text: withIds(text, this.world()), ...(thread ? { thread_ts: thread } : {}) })) !== null;
    if (thread) {
      toast(`${text.split(/\s/)[0]} is not supported in threads.`);
      return false;
    }
    return (await this.act("command", { channel: channel.id, text })) !== null;
  }

  // What the stand-in says.

  #live(user) {
    this.#lives.set(user, new Live(user, {
      see: (who, see) => this.#saw(who, see),
      toast: (who, text) => {
        if (who === this.user && !this.modals.say(text)) toast(text);
      },
      status: (who, status) => {
        this.#states.set(who, status);
        this.render();
      },
    }));
  }

  #saw(user, see) {
    const first = !this.sees.has(user);
    this.sees.set(user, see);
    this.#worlds.set(user, worldOf(see, this, user));
    const wanted = this.#wantedPerson();
    if (wanted) {
      this.#wanted.user = null;
      this.play(wanted.id);
    } else if (first && user === this.user) this.#settle(user, this.#places.get(user));
    this.render();
  }

  /** The person the address bar asks for, once it is known who there is and while someone else is played. */
  #wantedPerson() {
    const { user } = this.#wanted;
    const person = user && players(this.see()).find((each) => each.id === user || each.name === user);
    return person && person.id !== this.user ? person : null;
  }

  /** Finds where a person stands when they are first played: the wished place, else where the last one stood. */
  #settle(user, wish) {
    const see = this.sees.get(user);
    if (!see) {
      this.#places.set(user, wish ?? { channel: null, tab: "messages", thread: null });
      return;
    }
    const { channel: name, tab: wantedTab, thread } = this.#wanted;
    this.#wanted = {};
    const wanted = see.channels.find((each) => each.id === name || each.name === name || (each.is_im && name === "app"));
    const direct = see.channels.find((each) => each.is_im);
    const same = see.channels.find((each) => each.id === wish?.channel) ?? (wish?.channel?.startsWith("D") ? direct : null);
    const channel = wanted ?? same ?? see.channels.find((each) => each.name === FIRST_CHANNEL) ?? see.channels[0];
    const tab = wantedTab ?? wish?.tab ?? "messages";
    const inPlace = same === channel ? (wish?.thread ?? null) : null;
    this.#places.set(user, { channel: channel?.id ?? null, tab: channel?.is_im ? tab : "messages", thread: channel === wanted ? (thread ?? null) : inPlace });
    if (user !== this.user) return;
    this.#entered();
    if (channel?.is_im && tab === "home") this.act("home", { tab });
  }

  // What is drawn.

  render() {
    if (this.#due) return;
    this.#due = true;
    setTimeout(() => {
      this.#due = false;
      this.#draw();
    });
  }

  #draw() {
    this.#drawConnection();
    const see = this.see();
    document.body.classList.toggle("waiting", see === null);
    if (!see) return;
    const channel = this.channel();
    this.#markRead(channel);
    renderSwitcher($("switcher"), this);
    renderChannels($("channels"), this);
    this.#drawHead(channel);
    this.#drawConversation(channel);
    this.#drawThread(channel);
    this.modals.render();
    if (!$("wire").hidden) renderWire($("wire-list"), see.wire ?? []);
    writeHash(this.world().person(this.user), channel, this.place());
  }

  #markRead(channel) {
    const last = channel?.messages.at(-1);
    const looking = this.place().tab === "messages" || !channel?.is_im;
    if (last && looking && document.visibilityState === "visible") this.#kept.read(this.user, channel.id, last.ts);
  }

  #drawConnection() {
    const link = this.#states.get(this.user) ?? "connecting";
    const status = link === "connected" && this.see()?.app?.connected === false ? "offline" : link;
    const words = { connected: "Connected", reconnecting: "Reconnecting …", connecting: "Connecting …", offline: `${this.appName()} is not connected` };
    $("connection").className = `connection ${status}`;
    $("connection").textContent = words[status];
  }

  #drawHead(channel) {
    const me = this.world().person(this.user);
    document.documentElement.style.setProperty("--me", String(hueOf(me)));
    $("place-title").replaceChildren(...(channel ? [channel.is_im ? avatar({ is_bot: true }, "tiny") : icon(channel.is_private ? "lock" : "hash"), channel.is_im ? this.appName() : channel.name] : []));
    $("place-note").textContent = channel?.archived ? "Archived" : channel?.is_member === false ? "Not a member" : "";
    reconcile($("me"), [me ?? { id: this.user }], { key: (each) => each.id, signature: (each) => JSON.stringify(each), build: (each) => h("span", {}, avatar(each, "tiny"), h("span", { class: "me-words" }, "You are"), h("b", {}, this.world().nameOf(each))) });
    document.title = `${channel?.is_im ? this.appName() : `#${channel?.name ?? ""}`} as ${this.world().nameOf(me)} · Countersign Demo`;
    this.#drawTabs(channel);
  }

  #drawTabs(channel) {
    $("tabs").hidden = !channel?.is_im;
    const chosen = this.place().tab;
    reconcile($("tabs"), [["home", "Home"], ["messages", "Messages"]], {
      key: ([tab]) => tab,
      signature: ([tab]) => String(tab === chosen),
      build: ([tab, text]) => h("button", { type: "button", role: "tab", "aria-selected": String(tab === chosen), "aria-controls": tab, "data-focus": `tab\n${tab}`, onclick: () => this.openTab(tab) }, text),
    });
  }

  #drawConversation(channel) {
    const atHome = Boolean(channel?.is_im) && this.place().tab === "home";
    $("home").hidden = !atHome;
    for (const id of ["messages", "composer"]) $(id).hidden = atHome;
    if (atHome) this.#drawHome();
    else if (channel) renderMessages($("messages"), channel, topLevel(channel), this, { newFrom: this.#newFrom });
    this.main.render();
    this.#drawJump();
  }

  #drawHome() {
    const view = this.see().home;
    const ctx = this.context(`${this.user}|${view?.id}`, { view_id: view?.id }, view?.blocks);
    const empty = { type: "context", block_id: "no-home", elements: [{ type: "plain_text", text: `${this.appName()} has not published a Home tab for this person yet.` }] };
    reconcile($("home"), keyed(view ? (view.blocks ?? []) : [empty]), {
      key: (each) => each.key,
      signature: (each) => JSON.stringify([each.item, this.user, this.worldMark()]),
      build: (each) => block(each.item, ctx),
    });
  }

  #drawThread(channel) {
    const ts = this.place().thread;
    const parent = ts && channel?.messages.find((each) => each.ts === ts);
    $("thread").hidden = !parent;
    if (!parent) return;
    $("thread-place").textContent = channel.is_im ? this.appName() : `#${channel.name}`;
    renderMessages($("thread-messages"), channel, [parent, ...repliesTo(channel, ts)], this, { inThread: ts });
    this.side.render();
  }

  #drawJump() {
    const list = $("messages");
    $("jump").hidden = list.hidden || list.scrollHeight - list.scrollTop - list.clientHeight < 200;
  }

  #mainPlace() {
    const channel = this.channel();
    const me = this.world().nameOf(this.world().person(this.user));
    const where = channel?.is_im ? this.appName() : `#${channel?.name ?? ""}`;
    return { draftKey: `${this.user}|${channel?.id ?? ""}|`, placeholder: `Message ${where} as ${me}`, world: this.world(), commands: this.see()?.commands ?? [], locked: channel?.archived };
  }

  #threadPlace() {
    const { channel, thread } = this.place();
    return { draftKey: `${this.user}|${channel}|${thread}`, placeholder: "Reply …", world: this.world(), commands: [] };
  }

  // Fixed parts.

  #furnish() {
    $("team-mark").append(h("span", { class: "avatar app" }, appMark()));
    for (const [id, name] of [["thread-close", "close"], ["wire-close", "close"], ["hint-toggle", "bulb"], ["jump", "down"]]) $(id).append(icon(name));
    $("jump").append("Latest");
    $("wire-toggle").append(icon("pulse"), "Wire log");
    $("partner").append("Partner simulator", icon("external"));
    $("partner").href = `${location.protocol}//${location.hostname}:${Number(location.port) + 1}/`;
    $("faults").append(faultTools((work, said) => this.#attempt(work, said)));
    $("thread-close").addEventListener("click", () => this.openThread(null));
    for (const id of ["wire-toggle", "wire-close"]) $(id).addEventListener("click", () => this.#showWire($("wire").hidden));
    $("hint-toggle").addEventListener("click", () => this.#showHint($("hint").hidden));
    $("jump").addEventListener("click", () => $("messages").scrollTo({ top: $("messages").scrollHeight, behavior: "smooth" }));
    $("messages").addEventListener("scroll", () => this.#drawJump());
    fillHint($("hint"), this, () => this.#showHint(false));
    this.#showHint(!this.#kept.get("hint-dismissed"));
    this.#showWire(this.#kept.get("wire-open") === true);
    $("switcher").addEventListener("keydown", (event) => switcherKeys(event, this));
    document.addEventListener("keydown", (event) => this.#keys(event));
    document.addEventListener("click", (event) => this.#followPermalink(event));
    document.addEventListener("visibilitychange", () => this.render());
    globalThis.addEventListener("online", () => this.#lives.forEach((live) => live.retry()));
    globalThis.addEventListener("hashchange", () => this.#followHash());
    setInterval(refreshRelativeTimes, 20_000);
  }

  async #attempt(work, said) {
    try {
      await work();
      toast(said, "note");
    } catch (error) {
      if (!(error instanceof ActError)) throw error;
      toast(error.message);
    }
  }

  #showHint(visible) {
    $("hint").hidden = !visible;
    this.#kept.set("hint-dismissed", !visible);
  }

  #showWire(visible) {
    $("wire").hidden = !visible;
    $("wire-toggle").setAttribute("aria-expanded", String(visible));
    this.#kept.set("wire-open", visible);
    this.render();
    if (visible) setTimeout(() => $("wire-list").scrollTo({ top: $("wire-list").scrollHeight }));
  }

  #keys(event) {
    const typing = event.target.closest?.("input, textarea, select");
    const number = /^Digit([1-9])$/.exec(event.code)?.[1];
    const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (number && plain && (event.altKey || !typing)) {
      const person = players(this.see())[Number(number) - 1];
      if (!person) return;
      event.preventDefault();
      this.play(person.id);
    } else if (event.key === "Escape" && !this.modals.open && this.place().thread) this.openThread(null);
  }

  #followPermalink(event) {
    const found = PERMALINK.exec(event.target.closest?.("a[href]")?.href ?? "");
    if (!found) return;
    event.preventDefault();
    this.openMessage(found[1], `${found[2]}.${found[3]}`);
  }

  #followHash() {
    const wanted = readHash();
    const person = this.world().people.find((each) => each.id === wanted.user || each.name === wanted.user);
    const channel = this.see()?.channels.find((each) => each.id === wanted.channel || each.name === wanted.channel || (each.is_im && wanted.channel === "app"));
    if (person && person.id !== this.user) {
      this.#wanted = wanted;
      this.#places.delete(person.id);
      this.play(person.id);
    } else if (channel) this.#go({ channel: channel.id, tab: wanted.tab ?? "messages", thread: wanted.thread ?? null });
  }
}

/** Look-ups by id over what a person sees. */
function worldOf(see, page, me) {
  const people = see.people ?? [];
  const groups = see.groups ?? [];
  const channels = see.channels ?? [];
  const byId = (list) => new Map(list.map((each) => [each.id, each]));
  const [peopleById, groupsById, channelsById] = [byId(people), byId(groups), byId(channels)];
  return {
    me, people, groups, channels,
    mark: JSON.stringify([people, groups, channels.map((each) => [each.id, each.name])]),
    person: (id) => peopleById.get(id),
    group: (id) => groupsById.get(id),
    channel: (id) => channelsById.get(id),
    nameOf: (person) => person?.real_name || person?.name || person?.id || "",
    openChannel: (id) => page.openChannel(id),
  };
}

new Page();
