/** One agent in a server that is killed and restarted; the agent writes a trail outside of the store. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild, writeAgent } from "./child.ts";
import { openStream, rpc, type SseEvent, type Stream, sendParams, until } from "./client.ts";
import { tempFolder } from "./server.ts";
import { stateOf, taskOf, textOf } from "./wire.ts";

const AT_ONCE = { configuration: { returnImmediately: true } };

export class RestartableServer {
  readonly #folder = tempFolder();
  readonly #flags: readonly string[];
  #server: Child | undefined;
  #agent = "";

  /** `flags`: of the server, besides its own. */
  constructor(flags: readonly string[] = []) {
    this.#flags = flags;
  }

  get server(): Child {
    return this.#server as Child;
  }

  get folder(): string {
    return this.#folder.path;
  }

  get url(): string {
    return this.server.url;
  }

  /**
   * Starts a server with an agent of this function. In it, `mark(word)` appends a line to the trail, and
   * `gate(name)` waits until the test has opened that gate. A line of the trail proves that the run came this far,
   * not that anything is committed: `untilText` waits for that. Without a function: the same agent, at the same port.
   */
  async start(body?: string, options: object = {}): Promise<void> {
    if (body !== undefined) this.write(body, options);
    const data = join(this.#folder.path, "data");
    const port = this.#server?.port ?? 0;
    const flags = [
      "--durability",
      "process",
      "--log-level",
      "warn",
      "--drain-ms",
      "0",
      "--cancel-grace-ms",
      "200",
      ...this.#flags,
    ];
    this.#server = await startChild({ agents: [this.#agent], data, port, flags });
  }

  write(body: string, options: object = {}): void {
    const { path } = this.#folder;
    const tools = `
    const { appendFileSync, existsSync } = await import("node:fs");
    const mark = word => appendFileSync(${JSON.stringify(this.#trail)}, word + "\\n");
    const gate = async name => { while (!existsSync(${JSON.stringify(`${path}/`)} + name)) await sleep(5); };`;
    this.#agent = writeAgent(path, "worker", tools + body, options);
  }

  /**
   * Serves an agent file of another kind from the next start on; its trail and its gates are files in the
   * same folder.
   */
  use(write: (folder: string) => string): void {
    this.#agent = write(this.#folder.path);
  }

  /** The same agent under another name, from the next start on; returns the old name. */
  rename(name: string): string {
    const text = readFileSync(this.#agent, "utf8");
    const old = /name: "(\w+)"/.exec(text)?.[1] as string;
    writeFileSync(this.#agent, text.replace(`name: "${old}"`, `name: "${name}"`));
    return old;
  }

  get #trail(): string {
    return join(this.#folder.path, "trail");
  }

  trail(): readonly string[] {
    return existsSync(this.#trail) ? readFileSync(this.#trail, "utf8").trim().split("\n") : [];
  }

  /** Resolves when the trail ends with this word. */
  untilTrail(word: string): Promise<void> {
    return until(() => this.trail().at(-1) === word);
  }

  open(...gates: readonly string[]): void {
    for (const gate of gates) writeFileSync(join(this.#folder.path, gate), "");
  }

  /**
   * Resolves when exactly this text of the task is committed, and so everything that its run recorded before
   * it.
   */
  untilText(id: string, text: string): Promise<void> {
    return until(async () => textOf(await this.get(id)) === text);
  }

  async send(
    text: string,
    message: object = {},
  ): Promise<{ readonly result: object; readonly error: object }> {
    return (await rpc(this.url, "SendMessage", sendParams(text, message))).body;
  }

  async begin(text: string, message: object = {}): Promise<string> {
    return taskOf((await rpc(this.url, "SendMessage", { ...sendParams(text, message), ...AT_ONCE })).body).id;
  }

  async get(id: string): Promise<object> {
    return (await rpc(this.url, "GetTask", { id })).body;
  }

  /** The task when it is in one of these states. */
  async untilState(id: string, ...states: readonly string[]): Promise<object> {
    let body = {};
    await until(async () => states.includes(stateOf((body = await this.get(id))) as string));
    return body;
  }

  /** Reads all recorded events of a task after a position, to its end. */
  async readEvents(id: string, after = "0"): Promise<readonly SseEvent[]> {
    return (await this.resume(id, after)).all();
  }

  resume(id: string, after: string): Promise<Stream> {
    return openStream(this.url, "SubscribeToTask", { id }, { "last-event-id": after });
  }

  remove(): void {
    this.#folder.remove();
  }
}

/** Reads in the background until the stream ends or breaks. */
export function collect(stream: Stream): { readonly events: SseEvent[]; readonly broken: Promise<boolean> } {
  const events: SseEvent[] = [];
  const read = async (): Promise<boolean> => {
    try {
      for await (const event of stream) events.push(event);
      return false;
    } catch {
      return true;
    }
  };
  return { events, broken: read() };
}
