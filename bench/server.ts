import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "./children.ts";
import { CONTENDERS, THIS_TREE } from "./contenders.ts";
import type { Entry } from "./scenarios.ts";
import { openSink } from "./sink.ts";

export interface Server {
  port: number;
  /** The process group, which is also the leader's process id. */
  group: number;
  stop(): Promise<void>;
}

const READY_MS_MAX = 20_000;
const READY_POLL_MS = 50;
/** The last output of a server, shown when it does not start. */
const WORDS_CHARS_MAX = 2_000;

/** The environment of servers. */
export interface ServerEnvironment {
  children: Children;
  /** The parent of data folders. */
  parent: string;
  /** Creates an empty Postgres database and resolves with its URL. */
  createDatabase(): Promise<string>;
}

/**
 * Resolves when the server's card can be fetched; rejects with the server's output when that does not happen.
 */
export async function startServer(
  { contender, tree = THIS_TREE }: Pick<Entry, "contender" | "tree">,
  { children, parent, createDatabase }: ServerEnvironment,
): Promise<Server> {
  const folder = children.createFolder(parent);
  const port = await findPort();
  const { toArguments, traced, postgres } = CONTENDERS[contender];
  const data = postgres ? await createDatabase() : folder;
  const sink = traced && (await openSink());
  const env: Record<string, string> = sink ? { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url } : {};
  const child = children.spawn(toArguments(port, data, tree), env);
  const stop = async (): Promise<void> => {
    await children.end(child);
    children.removeFolder(folder);
    sink?.close();
  };
  try {
    await awaitReady(child, port);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, group: child.pid ?? 0, stop };
}

/** Resolves when the card of a server can be fetched. */
export async function awaitReady(child: ChildProcess, port: number): Promise<void> {
  const output = collectOutput(child);
  const deadlineMs = performance.now() + READY_MS_MAX;
  while (!(await answersCard(port))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended: ${output()}`);
    if (performance.now() > deadlineMs) throw new Error(`no card after ${READY_MS_MAX} ms: ${output()}`);
    await sleep(READY_POLL_MS);
  }
}

/** Also keeps the pipes empty for as long as the server runs. */
function collectOutput(child: ChildProcess): () => string {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-WORDS_CHARS_MAX);
    });
  }
  return () => output.trim();
}

async function answersCard(port: number): Promise<boolean> {
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`);
    await reply.arrayBuffer();
    return reply.status === 200;
  } catch {
    return false;
  }
}

export async function findPort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port on 127.0.0.1");
  return address.port;
}
