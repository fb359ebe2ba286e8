// The page on which one person plays the whole team: its state, and what changes it.

import { encoded } from "./panels/attachments.js";
import { Drafts, composer, withIds } from "./panels/composer.js";
import { draw } from "./draw.js";
import { Values, staticOptions, viewValues } from "./block_kit/fields.js";
import { depthKey, isReply, topLevel } from "./panels/messages.js";
import { Modals } from "./panels/modal.js";
import { ActError, Live, control } from "./client/connection.js";
import { toast } from "./block_kit/popups.js";
import { whenReleased } from "./dom/press.js";
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
  /** The place that the answer to something sent has opened; whoever is still there has chosen nothing since. */
  #opened = null;
  /** Where people are to stand once their view is here: what was chosen before it came. */
  #wishes = new Map();
  /** What is to be done once the view of the person being played is drawn. */
  #onceDrawn = null;
  /** The view that came last, whoever's it is. */
  #latest = null;
  /** What the address bar asks for, until it is known who there is. */
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

  /** What the person being played sees; null until their first view has come. */
  see() {
    return this.sees.get(this.user) ?? null;
  }

  /** The same, or else what somebody sees: enough to know who there is. */
  known() {
    return this.see() ?? this.#latest;
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
   * view also tells what its other controls hold. Whoever is played at the time of the click, it is of the person
   * to whom the message or view was shown.
   */
  context(scope, target, blocks = null) {
    const user = this.user;
    return {
      world: this.world(), scope, values: this.values, memory: (key) => this.memory(key),
      act: (body) => this.act("click", { ...target, ...body, ...(blocks ? { values: viewValues(blocks, scope, this.values) } : {}) }, user),
      suggest: async (blockId, actionId, value) => {
        const found = await this.act("suggest", { ...target, block_id: blockId, action_id: actionId, value }, user);
        return found ? staticOptions(found) : [];
      },
    };
  }

  // What a person does.

  /** Sends an act as that person; tells of a failure and answers null, else the outcome. */
  async act(kind, body, user = this.user) {
    try {
      const answer = await control(`act/${kind}`, { user, ...body });
      return answer.outcome ?? answer;
    } catch (error) {
      if (!(error instanceof ActError)) throw error;
      toast(error.message);
      return null;
    }
  }

  /** Plays that person: in the place wished for, else where they were, else where the one before stood. */
  play(user, wish = null) {
    if (user === this.user && !wish) return;
    const [before, typing] = [this.#wishes.get(this.user) ?? this.place(), $("composer").contains(document.activeElement)];
    this.user = user;
    if (!this.#lives.has(user)) this.#live(user);
    const inherited = this.place().channel === null && before.channel !== null ? before : null;
    const wished = wish ?? this.#wishes.get(user) ?? inherited;
    if (wished) this.#wishes.set(user, wished);
    this.newFrom = null;
    this.#onceDrawn = typing ? () => document.activeElement === document.body && this.main.focus() : null;
    this.#settle();
    this.#entered();
    this.#draw();
  }

  /** Plays somebody in the channel of that name, with `text` to be sent, if any. */
  playIn(user, name, text) {
    this.play(user, { ...NOWHERE, channel: name });
    this.#whenDrawn(() => (text ? this.insert(text) : this.main.focus()));
  }

  /** Goes where the address bar says, when a person changed it. */
  followHash() {
    this.#wanted = readHash();
    this.#followAddress();
  }

  reconnect() {
    for (const live of this.#lives.values()) live.retry();
  }

  openChannel(id) {
    if (!this.see()) {
      // The rail still shows what another person sees; the place is found by name once this one's view is here.
      this.#wishes.set(this.user, { ...NOWHERE, channel: id, tab: this.#wishes.get(this.user)?.tab ?? NOWHERE.tab });
      this.#whenDrawn(() => this.main.focus());
      return;
    }
    // A view that has just come may not be drawn yet: then this was of the person before.
    const channel = this.#sameFor(this.see(), id);
    if (!channel) {
      toast("This person cannot see that channel.");
      return;
    }
    this.#go({ channel: channel.id, tab: channel.is_im ? this.place().tab : "messages", thread: null });
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
    // Whatever is chosen until the answer comes, this is of that person, in that place.
    const [user, channel, place] = [this.user, this.channel(), this.place()];
    if (!channel) return false;
    if (files.length === 0 && text.startsWith("/")) {
      if (!thread) return (await this.act("command", { channel: channel.id, text }, user)) !== null;
      toast(`${text.split(/\s/)[0]} is not supported in threads.`);
      return false;
    }
    const words = { channel: channel.id, text: withIds(text, this.world()), ...(thread ? { thread_ts: thread } : {}) };
    const outcome = files.length > 0
      ? await this.act("upload", { ...words, files: await encoded(files) }, user)
      : await this.act("message", words, user);
    if (outcome?.ts && !thread) this.#sent(channel, outcome.ts, place);
    return outcome !== null;
  }

  /** In the app's own conversation the answer hangs on the message, so its thread is opened beside who is still there. */
  #sent(channel, ts, place) {
    this.#follow = ts;
    if (!channel.is_im || (this.place() !== place && this.place() !== this.#opened)) return;
    if (this.hasDraft(channel.id)) this.#go({ ...this.place(), thread: ts });
    else this.openThread(ts);
    this.#opened = this.place();
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
    this.sees.set(user, see);
    this.#latest = see;
    this.#worlds.set(user, worldOf(see, user, (id) => this.openChannel(id)));
    this.#followAddress();
    if (user === this.user) this.#settle();
    this.render();
  }

  /** Goes where the address bar says, as soon as it is known who there is. */
  #followAddress() {
    const people = players(this.known());
    if (!this.#wanted || people.length === 0) return;
    const { user, channel, tab, thread } = this.#wanted;
    this.#wanted = null;
    const person = people.find((each) => each.id === user || each.name === user)?.id ?? this.user;
    this.play(person, channel ? { channel, tab: tab ?? NOWHERE.tab, thread } : null);
  }

  /** Finds where the person being played stands: in the place wished for, once it is known what they see. */
  #settle() {
    const [see, wish] = [this.see(), this.#wishes.get(this.user)];
    if (!see || (!wish && this.place().channel !== null)) return;
    this.#wishes.delete(this.user);
    const { channel: wished, tab, thread } = wish ?? NOWHERE;
    const found = this.#sameFor(see, wished);
    const channel = found ?? this.channel() ?? findChannel(see, FIRST_CHANNEL) ?? see.channels[0];
    this.#places.set(this.user, { channel: channel?.id ?? null, tab: channel?.is_im ? tab : NOWHERE.tab, thread: found ? thread : null });
    this.#entered();
    if (channel?.is_im && tab === "home") this.act("home", { tab });
  }

  /** The channel of this name or id; the direct message with the app is another one for each person. */
  #sameFor(see, wished) {
    return findChannel(see, wished) ?? (wished?.startsWith("D") ? see.channels.find((each) => each.is_im) : null);
  }

  // What is drawn.

  /** Draws soon: updates that come together are drawn once. */
  render() {
    if (this.#due) return;
    this.#due = true;
    setTimeout(() => whenReleased(() => this.#draw()));
  }

  /** Does `work` once the view of the person being played is drawn, unless another is played before. */
  #whenDrawn(work) {
    this.#onceDrawn = work;
    this.#draw();
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
    if (!this.see()) return;
    writeHash(this.world().person(this.user), channel, this.place());
    const work = this.#onceDrawn;
    this.#onceDrawn = null;
    work?.();
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
    const placeholder = channel ? `Message ${where} as ${me}` : "";
    return { draftKey: `${this.user}|${channel?.id ?? ""}|`, placeholder, world: this.world(), commands: this.see()?.commands ?? [], locked: !channel || channel.archived };
  }

  #threadPlace() {
    const { channel, thread } = this.place();
    return { draftKey: `${this.user}|${channel}|${thread}`, placeholder: "Reply …", world: this.world(), commands: [], locked: !this.see() };
  }
}

new Page();
