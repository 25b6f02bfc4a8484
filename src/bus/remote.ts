import { setImmediate as immediate, setTimeout as pause } from "node:timers/promises";
import type { RemoteBus, RemoteBusParts } from "../ports/index.ts";
import { createLocalBus } from "./local.ts";

/** A connection that carries each text to all nodes. */
export interface BusConnection {
  /** Rejects if the text cannot be sent. */
  send(text: string): Promise<void>;
  /** Resolves when the connection is closed, for whatever reason. */
  readonly ended: Promise<unknown>;
  close(): Promise<void>;
}
/** Connects; `onMessage` is called with every text sent by any node, including this one. */
export type OpenConnection = (onMessage: (text: string) => void) => Promise<BusConnection>;

/** The payload of a Postgres NOTIFY is limited to 8,000 bytes. */
const CHARS_MAX = 7_500;
/** The topic that stands for all topics. */
const ALL = "*";
const RETRY_MS = 200;
const RETRY_MS_MAX = 5_000;
/** Loopback ping: if our own message does not return, the link is dead. */
const PING_MS = 5_000;

/** Sends notifications to the other nodes in batches. A lost one costs time, never an event, because every node polls. */
export function createRemoteBus(parts: RemoteBusParts, open: OpenConnection): RemoteBus {
  const { node, onRemote, batchMs, log } = parts;
  const local = createLocalBus();
  const closing = new AbortController();
  const isClosing = (): boolean => closing.signal.aborted;
  let connection: BusConnection | undefined;
  let pending = new Set<string>();
  let sending: Promise<void> | undefined;
  let wakeTimer: NodeJS.Timeout | undefined;
  /** Number of own messages that came back. */
  let pongs = 0;
  /** The error about a link that never worked is logged once. */
  let hasLoggedError = false;
  const poll = setInterval(wakeAll, parts.pollMs).unref();
  void run();

  function receive(text: string): void {
    const [sender, ...topics] = text.split("\n");
    if (sender === node) {
      pongs += 1;
      return;
    }
    for (const topic of topics) {
      if (topic === ALL) wakeAllSoon();
      else {
        onRemote(topic);
        local.notify(topic);
      }
    }
  }

  /** Notifications may have been lost. */
  function wakeAll(): void {
    onRemote(undefined);
    local.notifyAll();
  }

  /** When a database comes back, all nodes send `ALL` at the same time: one wake-up serves them all. */
  function wakeAllSoon(): void {
    wakeTimer ??= setTimeout(() => {
      wakeTimer = undefined;
      wakeAll();
    }, batchMs).unref();
  }

  function enqueue(topic: string): void {
    pending.add(topic);
    if (!isClosing()) sending ??= sendPending();
  }

  async function sendPending(): Promise<void> {
    // Topics of one turn of the event loop share a message; then wait a little, so that more of them do.
    await immediate();
    while (pending.size > 0) {
      const topics = pending;
      pending = new Set();
      // Without a connection they are dropped: after the reconnect every node checks everything.
      for (const text of connection ? toMessages(node, topics) : []) await send(text);
      await pause(batchMs);
    }
    sending = undefined;
  }

  async function send(text: string): Promise<void> {
    try {
      await connection?.send(text);
    } catch (error) {
      log.warn({ err: error }, "notifying other nodes failed; reconnecting, they will poll meanwhile");
      // The reconnect makes up for the dropped message.
      connection?.close().catch(() => {});
    }
  }

  async function run(): Promise<void> {
    let waitMs = RETRY_MS;
    for (let connects = 0; !isClosing(); connects++) {
      const hasWorked = await useConnection(connects > 0).catch(error => {
        log.warn({ err: error }, "cannot connect to the notification bus of the cluster; retrying");
        return false;
      });
      waitMs = hasWorked ? RETRY_MS : Math.min(2 * waitMs, RETRY_MS_MAX);
      await pause(waitMs, undefined, { ref: false, signal: closing.signal }).catch(() => {});
    }
  }

  /** Resolves when the connection has ended. Returns whether a message came back over it. */
  async function useConnection(isReconnect: boolean): Promise<boolean> {
    const pongsBefore = pongs;
    const opened = await open(receive);
    if (isClosing()) return opened.close().then(() => true);
    connection = opened;
    wakeAll();
    if (isReconnect) enqueue(ALL);
    let pongsAtLastPing = -1;
    const ping = (): void => {
      if (pongs === pongsAtLastPing) return closeDeadConnection(opened, pongs > pongsBefore);
      pongsAtLastPing = pongs;
      opened.send(node).catch(() => {});
    };
    ping();
    const pingTimer = setInterval(ping, PING_MS).unref();
    await opened.ended;
    clearInterval(pingTimer);
    connection = undefined;
    return pongs > pongsBefore;
  }

  function closeDeadConnection(dead: BusConnection, hasWorked: boolean): void {
    if (hasWorked) log.warn({}, "the notification bus no longer returns messages; reconnecting");
    else if (!hasLoggedError) log.error({}, NO_LOOPBACK);
    hasLoggedError ||= !hasWorked;
    dead.close().catch(() => {});
  }

  return {
    subscribe: local.subscribe,
    unsubscribe: local.unsubscribe,
    notify(topic) {
      local.notify(topic);
      enqueue(topic);
    },
    async close() {
      closing.abort();
      clearInterval(poll);
      clearTimeout(wakeTimer);
      await sending;
      await connection?.close();
    },
  };
}

const NO_LOOPBACK =
  "nodes cannot notify each other: messages sent to the cluster do not return. If --data is the address of a pooler such " +
  "as PgBouncer, set --database-direct-url, or --notify nats://…; until then updates of other nodes are only seen by polling";

/** The id of the sender and the topics, one a line. */
function* toMessages(node: string, topics: ReadonlySet<string>): Generator<string> {
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
