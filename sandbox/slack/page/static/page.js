// The page on which one person plays the whole team: its state, and what changes it.

import { encoded } from "./panels/attachments.js";
import { Drafts, composer, withIds } from "./panels/composer.js";
import { draw } from "./draw.js";
import { Values, staticOptions, viewValues } from "./block_kit/fields.js";
import { depthKey, isReply, topLevel } from "./panels/messages.js";
import { Modals } from "./panels/modal.js";
import { ActError, Live, control } from "./client/connection.js";
import { toast } from "./block_kit/popups.js";
import { players } from "./panels/rail.js";
import { Remembered, readHash, writeHash } from "./client/remembered.js";
import { furnish, showHint } from "./shell.js";
import { findChannel, worldOf } from "./client/lookups.js";

const $ = (id) => document.getElementById(id);
const FIRST_USER = "U0ALICE";
const FIRST_CHANNEL = "card-ops";
const POINT_MS = 2500;
const NOWHERE = { channel: null, tab: "messages", thread: null };

class Page {
  sees = new Map();
  values = new Values();
  drafts = new Drafts();
  kept = new Remembered();
  /** Where the messages start that this person had not read on entering; null for none. */
  newFrom = null;
  #lives = new Map();
  #states = new Map();
  #places = new Map();
  #memories = new Map();
  #worlds = new Map();
  #due = false;
  /** What was just sent: brought into view once it is there. */
  #follow = null;
  #wanted = readHash();

  constructor() {
    this.user = null;
    this.modals = new Modals($("modals"), this);
    this.main = composer({ label: "Message", drafts: this.drafts, place: () => this.#mainPlace(), send: (text, files) => this.#send(text, files, null) });
    this.side = composer({ label: "Reply", drafts: this.drafts, place: () => this.#threadPlace(), send: (text, files) => this.#send(text, files, this.place().thread) });
    $("composer").append(this.main.node);
    $("thread-composer").append(this.side.node);
    furnish(this);
    this.play(FIRST_USER);
  }

  // What is known.

  see() {
    return this.sees.get(this.user) ?? null;
  }

  place() {
    return this.#places.get(this.user) ?? NOWHERE;
  }

  channel() {
    return this.see()?.channels.find((each) => each.id === this.place().channel) ?? null;
  }

  world() {
    return this.#worlds.get(this.user) ?? worldOf({}, this.user, () => undefined);
  }

  /** Changes when names that messages show have changed. */
  worldMark() {
    return this.world().mark;
  }

  appName() {
    return this.see()?.app?.name ?? "Countersign";
  }

  linkOf(user) {
    return this.#states.get(user) ?? "connecting";
  }

  hasDraft(channel) {
    return this.drafts.get(`${this.user}|${channel}|`) !== "";
  }

  readUntil(user, channel) {
    return this.kept.readUntil(user, channel);
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
    this.newFrom = null;
    this.#entered();
    this.#draw();
  }

  /** Plays somebody in the channel of that name. */
  playIn(user, name) {
    if (!this.sees.has(user)) this.#wanted = { channel: name };
    this.play(user);
    const channel = findChannel(this.see(), name);
    if (channel) this.openChannel(channel.id);
  }

  /** Goes where the address bar says, when a person changed it. */
  followHash() {
    const wanted = readHash();
    const person = this.world().people.find((each) => each.id === wanted.user || each.name === wanted.user);
    const channel = findChannel(this.see(), wanted.channel);
    if (person && person.id !== this.user) {
      this.#wanted = { ...wanted, user: null };
      this.#places.delete(person.id);
      this.play(person.id);
    } else if (channel) this.#go({ channel: channel.id, tab: wanted.tab ?? "messages", thread: wanted.thread });
  }

  reconnect() {
    for (const live of this.#lives.values()) live.retry();
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
    // However far back it is, it must be among those drawn.
    this.memory(depthKey(this.user, channelId)).count = Infinity;
    this.openChannel(channelId);
    if (isReply(message)) this.openThread(message.thread_ts);
    const node = document.querySelector(`[data-ts="${CSS.escape(ts)}"]`);
    node?.scrollIntoView({ block: "center" });
    node?.classList.add("pointed-at");
    setTimeout(() => node?.classList.remove("pointed-at"), POINT_MS);
  }

  dismissHint() {
    showHint(this, false);
  }

  focusComposer() {
    this.main.focus();
  }

  /** A modal covers the conversation: nothing under it can be reached. */
  covered(yes) {
    for (const id of ["columns", "wire"]) $(id).inert = yes;
  }

  /** Sends a suggested prompt as if it had been typed. */
  say(text) {
    return this.#send(text, [], null);
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
    this.newFrom = fresh && Number(until) > 0 ? until : null;
  }

  async #send(text, files, thread) {
    const channel = this.channel();
    if (!channel) return false;
    if (files.length > 0) {
      const words = { text: withIds(text, this.world()), ...(thread ? { thread_ts: thread } : {}) };
      return this.#sent(channel, thread, await this.act("upload", { channel: channel.id, files: await encoded(files), ...words }));
    }
    if (!text.startsWith("/")) {
      const words = { text: withIds(text, this.world()), ...(thread ? { thread_ts: thread } : {}) };
      return this.#sent(channel, thread, await this.act("message", { channel: channel.id, ...words }));
    }
    if (thread) {
      toast(`${text.split(/\s/)[0]} is not supported in threads.`);
      return false;
    }
    return (await this.act("command", { channel: channel.id, text })) !== null;
  }

  /** In the app's own conversation the answer hangs on the message, so its thread is opened. */
  #sent(channel, thread, outcome) {
    if (outcome?.ts && !thread) this.#follow = outcome.ts;
    if (outcome?.ts && channel.is_im && !thread && this.channel()?.id === channel.id) this.openThread(outcome.ts);
    return outcome !== null;
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
    this.#worlds.set(user, worldOf(see, user, (id) => this.openChannel(id)));
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
      this.#places.set(user, wish ?? NOWHERE);
      return;
    }
    const { channel: name, tab: wantedTab, thread } = this.#wanted;
    this.#wanted = {};
    const wanted = name ? findChannel(see, name) : null;
    const direct = see.channels.find((each) => each.is_im);
    const same = findChannel(see, wish?.channel) ?? (wish?.channel?.startsWith("D") ? direct : null);
    const channel = wanted ?? same ?? findChannel(see, FIRST_CHANNEL) ?? see.channels[0];
    const tab = wantedTab ?? wish?.tab ?? "messages";
    const inPlace = same === channel ? (wish?.thread ?? null) : null;
    this.#places.set(user, { channel: channel?.id ?? null, tab: channel?.is_im ? tab : "messages", thread: channel === wanted ? (thread ?? null) : inPlace });
    if (user !== this.user) return;
    this.#entered();
    if (channel?.is_im && tab === "home") this.act("home", { tab });
  }

  // What is drawn.

  /** Draws soon: updates that come together are drawn once. */
  render() {
    if (this.#due) return;
    this.#due = true;
    setTimeout(() => this.#draw());
  }

  #draw() {
    this.#due = false;
    const channel = this.channel();
    this.#markRead(channel);
    draw(this);
    if (this.#follow && channel?.messages.some((each) => each.ts === this.#follow)) {
      this.#follow = null;
      $("messages").scrollTo({ top: $("messages").scrollHeight });
    }
    if (this.see()) writeHash(this.world().person(this.user), channel, this.place());
  }

  #markRead(channel) {
    const last = channel?.messages.at(-1);
    const looking = this.place().tab === "messages" || !channel?.is_im;
    if (last && looking && document.visibilityState === "visible") this.kept.read(this.user, channel.id, last.ts);
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
}

new Page();
