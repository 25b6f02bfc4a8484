/**
 * Executes the shell blocks of a page, line by line, in a folder that looks like the reader's. Replaced are only ports
 * (two tests may run at once), absolute folders such as /srv, and the ids of tasks. A server is started and kept running;
 * `npm` and `npx` are scripts that do the same as npm's without its start time, and install nothing.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { EXIT } from "../../../src/cli/command.ts";
import { until } from "../client.ts";
import { type Block, placeOf } from "./blocks.ts";
import { installInto, writeProgram } from "./project.ts";

export interface Page {
  readonly folder: string;
  run(block: Block): Promise<void>;
  close(): Promise<void>;
}

interface Server {
  readonly port: number;
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
}

const SERVES = /^(?:[A-Z_]+=\S+ )*(?:npx dragoman (?:serve|dev)|npm start|npm run dev)\b/;
const EXPORT = /^export (\w+)=(\S+)$/;
const DEFAULT_PORT = 2024;
/** Folders of a machine, which a page has below its own. */
const FOLDERS = /(?<![\w.:/-])\/(srv|var\/lib|backup|etc)\b/g;
const PORTS = /(?<=(?:127\.0\.0\.1|localhost):|--(?:admin-|grpc-)?port[ =])\d{4,5}\b/g;
const TASK = /\bTASK\b|\b01[0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

export interface PageParts {
  readonly folder: string;
  /** The port of a server with the bundled examples, for pages that start none. */
  readonly examples: number;
  /** The data folder of a server that has stopped, and a task in it, for commands that read a store. */
  readonly store: string;
  readonly storedTask: string;
  /** Environment variables that the reader has set. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Where pages have a store. */
const STORES = [".dragoman", "tasks", "srv/tasks", "var/lib/dragoman"];

export function openPage({ folder, examples, store, storedTask, variables }: PageParts): Page {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  for (const name of ["backup", "etc"]) mkdirSync(join(folder, name), { recursive: true });
  for (const name of STORES) cpSync(store, join(folder, name), { recursive: true });
  installInto(folder);
  writeTools(bin, folder);
  const ports = new Map<number, number>();
  const servers: Server[] = [];
  /** The newest task that a response of this page showed. */
  let task: string | undefined;
  const env: Record<string, string | undefined> = {
    ...process.env,
    ...variables,
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    NODE_OPTIONS: "",
    NO_COLOR: "1",
  };

  const portOf = async (port: number): Promise<number> => {
    if (port === DEFAULT_PORT && !ports.has(port)) return examples;
    const free = ports.get(port) ?? (await findPort());
    ports.set(port, free);
    return free;
  };
  const translate = async (line: string): Promise<string> => {
    let text = line.replaceAll(FOLDERS, `${folder}/$1`);
    const found = new Map<string, string>();
    for (const port of text.match(PORTS) ?? []) found.set(port, String(await portOf(Number(port))));
    text = text.replaceAll(PORTS, port => found.get(port) as string);
    if (text.search(TASK) === -1) return text;
    if (/ --data /.test(text)) return text.replaceAll(TASK, storedTask);
    const ours = agentIn(line) === undefined ? task : undefined;
    const url = `http://127.0.0.1:${await portOf(DEFAULT_PORT)}`;
    return text.replaceAll(TASK, ours ?? (await findTask(url, agentIn(line), / cancel /.test(line))));
  };

  const assign = async (line: string): Promise<void> => {
    const [, name = "", value] = EXPORT.exec(await translate(line)) ?? [];
    env[name] = value;
  };
  const stop = async (server: Server): Promise<void> => {
    servers.splice(servers.indexOf(server), 1);
    server.process.kill("SIGTERM");
    await server.ended;
  };
  const serve = async (line: string, block: Block): Promise<void> => {
    const chosen = Number(/--port[ =](\d+)/.exec(line)?.[1] ?? DEFAULT_PORT);
    for (const server of servers.filter(one => one.port === chosen)) await stop(server);
    const port = chosen === 0 ? 0 : (ports.get(chosen) ?? (await findPort()));
    ports.set(chosen, port);
    const child = spawn("bash", ["-ec", `exec ${await translate(line)}`], {
      cwd: folder,
      env: { ...env, DRAGOMAN_PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = collect(child);
    const ended = once(child, "close");
    servers.push({ port: chosen, process: child, ended });
    await until(() => / ready in |"url":/.test(output.text) || child.exitCode !== null, 170_000);
    if (child.exitCode !== null)
      throw new Error(`${placeOf(block)}: ${line}\n${output.text}\nexited with ${child.exitCode}`);
  };
  const execute = async (line: string, block: Block): Promise<void> => {
    const child = spawn("bash", ["-ec", await translate(line)], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = collect(child);
    const closed = once(child, "close");
    if (block.note?.kind === "until its first output") {
      await until(() => output.text !== "" || child.exitCode !== null);
      child.kill("SIGINT");
    }
    const [code] = await closed;
    task = [...output.text.matchAll(/"task":\{"id":"([0-9a-f-]{36})"/g)].at(-1)?.[1] ?? task;
    const expected = Number(/^exits with (\d)/.exec(block.note?.kind ?? "")?.[1] ?? 0);
    const isInterrupted = block.note?.kind === "until its first output" && (code === 130 || code === null);
    const isAsked = code === EXIT.asked && output.text.includes("waits for an answer");
    const isExpected = code === expected || isInterrupted || isAsked;
    if (!isExpected || /"error":\{/.test(output.text))
      throw new Error(`${placeOf(block)}: ${line}\n${output.text}\nexited with ${code}`);
  };

  return {
    folder,
    async run(block) {
      for (const line of commandsOf(block.text))
        if (EXPORT.test(line)) await assign(line);
        else
          await (SERVES.test(line) && !line.includes("--help") ? serve(line, block) : execute(line, block));
    },
    async close() {
      for (const server of [...servers]) await stop(server);
    },
  };
}

/** One command per item: continued lines, here documents and quotes over several lines belong together. */
export function commandsOf(text: string): readonly string[] {
  const commands: string[] = [];
  let open = "";
  for (const line of text.replaceAll("\\\n", " ").split("\n")) {
    open = open === "" ? line : `${open}\n${line}`;
    const end = /<<-? ?'?(\w+)'?/.exec(open)?.[1];
    if (end !== undefined && !new RegExp(`^${end}$`, "m").test(open)) continue;
    if ((open.match(/'/g)?.length ?? 0) % 2 === 1 && !open.startsWith("#")) continue;
    if (!/^\s*(?:#.*)?$/.test(open)) commands.push(open.replace(/^\$ /, "").replace(/\s+# .*$/, ""));
    open = "";
  }
  return commands;
}

function writeTools(bin: string, folder: string): void {
  const node = process.execPath;
  writeProgram(
    join(bin, "npx"),
    `name="$1"; shift
[ "$name" = node ] && exec '${node}' "$@"
exec '${folder}/node_modules/.bin/'"$name" "$@"`,
  );
  writeProgram(
    join(bin, "npm"),
    `what="$1"; shift
case "$what" in
  ci|install) exit 0 ;;
  run) what="$1"; shift ;;
esac
[ "$1" = -- ] && shift
case "$what" in
  start) exec npx dragoman serve "$@" ;;
  dev) exec npx dragoman dev "$@" ;;
esac
echo "npm $what is not known here" >&2
exit 1`,
  );
}

function collect(child: ChildProcess): { readonly text: string } {
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (output.text += text));
  return output;
}

const agentIn = (line: string): string | undefined =>
  /--agent (\w+)/.exec(line)?.[1] ?? /\/agents\/(\w+)/.exec(line)?.[1];

const HEADERS = { "content-type": "application/json", "a2a-version": "1.0" };

/** The newest task of an agent; a new one if it has none, or if the task is to be canceled. */
async function findTask(url: string, agent: string | undefined, isNew: boolean): Promise<string> {
  const base = agent === undefined ? url : `${url}/agents/${agent}`;
  const listed = (await (await fetch(`${base}/tasks`, { headers: HEADERS })).json()) as {
    tasks?: { id: string }[];
  };
  if (listed.tasks?.[0] && !isNew) return listed.tasks[0].id;
  const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hello" }] };
  const sent = await fetch(`${base}/message:send`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ message, configuration: { returnImmediately: true } }),
  });
  return ((await sent.json()) as { task: { id: string } }).task.id;
}

/** A port below those that systems give to outgoing connections. */
export async function findPort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>(resolve => {
      probe.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}
