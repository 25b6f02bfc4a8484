/** Notifications between nodes over TCP: a hub passes each line on to all other connections. A line is a topic. */
import { connect, createServer, type Server, type Socket } from "node:net";
import type { RemoteBus, RemoteBusParts } from "dragoman/ports";

/** The line that stands for all topics: notifications may have been lost. */
const ALL = "*";
const RETRY_MS = 200;
/** A node that reads so slowly loses its connection. It reconnects, and then looks at everything. */
const UNREAD_BYTES_MAX = 1_000_000;

/** `createHub().listen(4600)`, in one process for all nodes. */
export function createHub(): Server {
  const nodes = new Set<Socket>();
  return createServer(socket => {
    nodes.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => nodes.delete(socket));
    readLines(socket, line => {
      for (const other of nodes) {
        if (other === socket) continue;
        if (other.writableLength > UNREAD_BYTES_MAX) other.destroy();
        else other.write(`${line}\n`);
      }
    });
  });
}

type Listener = Parameters<RemoteBus["subscribe"]>[1];

/** `createServer({ agents, store, bus: parts => createTcpBus(parts, 4600) })` */
export function createTcpBus(parts: RemoteBusParts, port: number, host = "127.0.0.1"): RemoteBus {
  const { onRemote, batchMs, pollMs, log } = parts;
  const listeners = new Map<string, Set<Listener>>();
  const pending = new Set<string>();
  let sending: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;
  let socket = open();
  // A notification that was lost costs this time, never an event.
  const poll = setInterval(wakeAll, pollMs).unref();

  function open(): Socket {
    const opened = connect(port, host);
    readLines(opened, topic => {
      if (topic === ALL) return wakeAll();
      // The store looks before its readers do.
      onRemote(topic);
      wake(topic);
    });
    opened.on("connect", () => {
      wakeAll();
      // What this node could not send while it was not connected, the others find by themselves.
      opened.write(`${ALL}\n`);
    });
    opened.on("error", error => log.warn({ err: error }, "the hub is not reached; retrying"));
    opened.on("close", () => {
      if (!isClosed) retry = setTimeout(() => (socket = open()), RETRY_MS).unref();
    });
    return opened;
  }

  function wake(topic: string): void {
    for (const listener of [...(listeners.get(topic) ?? [])]) listener.wake();
  }

  function wakeAll(): void {
    onRemote(undefined);
    for (const topic of [...listeners.keys()]) wake(topic);
  }

  /** Without a connection the topics are dropped: the next one begins with `ALL`. */
  function send(): void {
    sending = undefined;
    if (socket.readyState === "open") socket.write(`${[...pending].join("\n")}\n`);
    pending.clear();
  }

  return {
    notify(topic) {
      wake(topic);
      pending.add(topic);
      sending ??= setTimeout(send, batchMs);
    },
    subscribe(topic, listener) {
      listeners.set(topic, (listeners.get(topic) ?? new Set()).add(listener));
    },
    unsubscribe(topic, listener) {
      const left = listeners.get(topic);
      left?.delete(listener);
      if (left?.size === 0) listeners.delete(topic);
    },
    async close() {
      isClosed = true;
      clearInterval(poll);
      clearTimeout(retry);
      clearTimeout(sending);
      if (pending.size > 0) send();
      if (socket.connecting) socket.destroy();
      else socket.destroySoon();
    },
  };
}

function readLines(socket: Socket, onLine: (line: string) => void): void {
  let rest = "";
  socket.setEncoding("utf8").on("data", chunk => {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
}
