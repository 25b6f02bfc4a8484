/** For the checks of the examples: serves an example on a free port, in its own process, and calls it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The command of the package: of the clone that these files are in, or of the project that they were copied into. */
const MAIN = fileURLToPath(new URL("bin/dragoman.cjs", import.meta.resolve("dragoman/package.json")));

/** The response of an agent. */
export interface Answer {
  readonly taskId: string;
  /** TASK_STATE_COMPLETED, … */
  readonly state: string;
  /** The text of the artifacts. */
  readonly text: string;
  /** The message of the status: a question, or the reason of a failure. */
  readonly statusText: string;
  /** The data of the artifacts, by artifact name. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Served {
  readonly url: string;
  /** `taskId`: continues a task that waits for an answer. */
  send(agent: string, text: string, taskId?: string): Promise<Answer>;
  stop(): Promise<void>;
}

export async function serve(file: URL, env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const args = ["serve", fileURLToPath(file), "--port", "0", "--data", ":memory:", "--json"];
  const server = spawn(process.execPath, [MAIN, ...args, "--log-level", "warn"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const first = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
  if (first.done) throw new Error("the server did not start");
  const { url } = JSON.parse(first.value) as { readonly url: string };
  return {
    url,
    send: (agent, text, taskId) => send(`${url}/agents/${agent}`, text, taskId),
    async stop() {
      server.kill("SIGTERM");
      await once(server, "exit");
    },
  };
}

interface Part {
  readonly text?: string;
  readonly data?: unknown;
}
interface Task {
  readonly id: string;
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly Part[] } };
  readonly artifacts?: readonly { readonly name?: string; readonly parts: readonly Part[] }[];
}

async function send(url: string, text: string, taskId: string | undefined): Promise<Answer> {
  const message = { messageId: `${Math.random()}`, role: "ROLE_USER", parts: [{ text }], taskId };
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
  });
  const { result, error } = (await response.json()) as { result?: { task: Task }; error?: unknown };
  if (!result) throw new Error(JSON.stringify(error));
  const { id, status, artifacts = [] } = result.task;
  const parts = artifacts.flatMap(artifact => artifact.parts);
  const data = artifacts.map(({ name = "", parts: [part] }) => [name, part?.data]);
  return {
    taskId: id,
    state: status.state,
    text: textIn(parts),
    statusText: textIn(status.message?.parts ?? []),
    data: Object.fromEntries(data.filter(([, value]) => value !== undefined)),
  };
}

const textIn = (parts: readonly Part[]): string => parts.map(part => part.text ?? "").join("");
