import { setImmediate as immediate, setTimeout as pause } from "node:timers/promises";
import type { Bus, Log } from "../ports/index.ts";
import { createLocalBus } from "./local.ts";

/** A bus between nodes: what is rung here is heard here at once, and elsewhere a moment later. */
export interface RemoteBus extends Bus {
  close(): Promise<void>;
}

/** A connection over which rings travel, as one text to all nodes. */
export interface Link {
  /** Rejects if that cannot be done now. */
  send(text: string): Promise<void>;
  /** Resolves when the connection is gone, for whatever reason. */
  readonly ended: Promise<unknown>;
  close(): Promise<void>;
}
/** Makes a connection; `hear` is called with all that is sent, also with what comes from here. */
export type OpenLink = (hear: (text: string) => void) => Promise<Link>;

export interface RemoteBusParts {
  /** This node, like no other. */
  readonly node: string;
  /** Before those who listen are woken: another node has rung for this topic; undefined: for any. */
  readonly onRemote: (topic: string | undefined) => void;
  /** How long rings are gathered after some were sent. */
  readonly gatherMs: number;
  /** Between two rings for everybody, in case one was lost. */
  readonly pollMs: number;
  readonly log: Log;
}

/** Postgres takes 8,000 bytes. */
const CHARS_MAX = 7_500;
/** A topic that stands for all. */
const ALL = "*";
const RETRY_MS = 200;
const RETRY_MS_MAX = 5_000;
/** Between two words to oneself: whoever does not hear himself is not heard either. */
const ECHO_MS = 5_000;

/** Gathers rings and tells them to the other nodes; a lost one costs time, because everybody looks now and then anyway. */
export function createRemoteBus(parts: RemoteBusParts, open: OpenLink): RemoteBus {
  const { node, onRemote, gatherMs, log } = parts;
  const local = createLocalBus();
  const closing = new AbortController();
  const isClosing = (): boolean => closing.signal.aborted;
  let link: Link | undefined;
  let coming = new Set<string>();
  let sending: Promise<void> | undefined;
  let soon: NodeJS.Timeout | undefined;
  /** So often one has heard oneself. */
  let echoes = 0;
  /** That one does not is said once. */
  let complained = false;
  const poll = setInterval(lookAgain, parts.pollMs).unref();
  void live();

  function hear(text: string): void {
    const [sender, ...topics] = text.split("\n");
    if (sender === node) echoes += 1;
    else for (const topic of topics) hearTopic(topic);
  }

  function hearTopic(topic: string): void {
    if (topic === ALL) return lookSoon();
    onRemote(topic);
    local.notify(topic);
  }

  /** Rings may have been lost. */
  function lookAgain(): void {
    onRemote(undefined);
    local.ringAll();
  }

  /** When a database comes back, all nodes say so at the same time. */
  function lookSoon(): void {
    soon ??= setTimeout(() => {
      soon = undefined;
      lookAgain();
    }, gatherMs).unref();
  }

  function tell(topic: string): void {
    coming.add(topic);
    if (!isClosing()) sending ??= sendAll();
  }

  async function sendAll(): Promise<void> {
    // What is rung in one turn of the event loop goes together; then there is a pause, so that more does.
    await immediate();
    while (coming.size > 0) {
      const topics = coming;
      coming = new Set();
      // While there is no connection they are dropped: after it has been made, everybody looks at everything.
      for (const text of link ? textsOf(node, topics) : []) await sendOne(text);
      await pause(gatherMs);
    }
    sending = undefined;
  }

  async function sendOne(text: string): Promise<void> {
    try {
      await link?.send(text);
    } catch (error) {
      log.warn({ err: error }, "other nodes could not be told; they will look by themselves");
      // What was dropped is made good with the next connection.
      link?.close().catch(() => {});
    }
  }

  async function live(): Promise<void> {
    let waitMs = RETRY_MS;
    for (let times = 0; !isClosing(); times++) {
      const hasWorked = await hold(times).catch(error => {
        log.warn({ err: error }, "the bell of other nodes cannot be heard now; this is tried again");
        return false;
      });
      waitMs = hasWorked ? RETRY_MS : Math.min(2 * waitMs, RETRY_MS_MAX);
      await pause(waitMs, undefined, { ref: false, signal: closing.signal }).catch(() => {});
    }
  }

  /** As long as one connection lasts. Whether it was of any use. */
  async function hold(times: number): Promise<boolean> {
    const before = echoes;
    const made = await open(hear);
    if (isClosing()) return made.close().then(() => true);
    link = made;
    lookAgain();
    if (times > 0) tell(ALL);
    let last = -1;
    const listenToOneself = (): void => {
      if (echoes === last) return giveUp(made, echoes > before);
      last = echoes;
      made.send(node).catch(() => {});
    };
    listenToOneself();
    const echo = setInterval(listenToOneself, ECHO_MS).unref();
    await made.ended;
    clearInterval(echo);
    link = undefined;
    return echoes > before;
  }

  /** A connection that lets nothing through. `heardBefore`: it did once. */
  function giveUp(made: Link, heardBefore: boolean): void {
    if (heardBefore) log.warn({}, "the bell of other nodes is silent; another connection is made");
    else if (!complained) log.error({}, NEVER_HEARD);
    complained ||= !heardBefore;
    made.close().catch(() => {});
  }

  return {
    subscribe: local.subscribe,
    unsubscribe: local.unsubscribe,
    notify(topic) {
      local.notify(topic);
      tell(topic);
    },
    async close() {
      closing.abort();
      clearInterval(poll);
      clearTimeout(soon);
      await sending;
      await link?.close();
    },
  };
}

const NEVER_HEARD =
  "nodes cannot wake each other: what is sent does not come back. If --data leads to a pooler such as PgBouncer, give " +
  "--database-direct-url, or a --bell of its own; until then updates of other nodes are seen now and then only";

function* textsOf(node: string, topics: ReadonlySet<string>): Generator<string> {
  let text = node;
  for (const topic of topics) {
    if (text.length + topic.length + 1 > CHARS_MAX) {
      yield text;
      text = node;
    }
    text += `\n${topic}`;
  }
  if (text !== node) yield text;
}
