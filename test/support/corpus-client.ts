/** The caller in a story: sends what the file says and writes down what comes back. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { type Outcome, type Reading, type Scene, type Story, type WireRequest, writeJson } from "./corpus.ts";
import { Names } from "./corpus-names.ts";
import { type House, openHouse } from "./corpus-server.ts";

/** Headers of the connection, not of the reply. */
const UNTOLD: ReadonlySet<string> = new Set(["date", "keep-alive", "transfer-encoding", "content-length"]);
const isTold = (name: string, value: string): boolean =>
  !UNTOLD.has(name.toLowerCase()) && !(name.toLowerCase() === "connection" && value === "keep-alive");

/** Plays a story on a stage of its own. */
export async function play(story: Story): Promise<readonly Outcome[]> {
  const house = await openHouse(story);
  const caller = new Caller(house);
  try {
    const outcomes: Outcome[] = [];
    for (const scene of story.scenes) outcomes.push(await caller.play(scene));
    return outcomes;
  } finally {
    caller.close();
    await house.close();
  }
}

class Caller {
  readonly #house: House;
  readonly #names = new Names();
  readonly #connections = new Agent({ keepAlive: true });
  #held: Frames | undefined;

  constructor(house: House) {
    this.#house = house;
  }

  async play(scene: Scene): Promise<Outcome> {
    this.#house.tick();
    if (!scene.request) {
      await this.#house.goOn();
      return { operation: "-", reply: await this.#readOn() };
    }
    const response = await this.#send(scene.request);
    const reply = await this.#read(response, scene.reading);
    const operation = this.#house.decoded();
    return {
      operation: operation ? this.#names.hide(writeJson(operation)) : "-",
      reply: this.#names.hide(reply),
    };
  }

  close(): void {
    this.#connections.destroy();
  }

  async #send(asked: WireRequest): Promise<IncomingMessage> {
    const { verb: method, headers } = asked;
    const body = Buffer.from(this.#names.show(asked.body));
    const all = headers.flatMap(([name, value]) => [name, this.#names.show(value)]);
    const sent = request({
      method,
      agent: this.#connections,
      host: "127.0.0.1",
      port: this.#house.port,
      path: this.#names.show(asked.path),
      headers: ["Host", "agents.example", "Content-Length", String(body.length), ...all],
    });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return response;
  }

  async #read(response: IncomingMessage, reading: Reading): Promise<string> {
    const frames = new Frames(response);
    const head = toHead(response);
    if (reading.how === "all") {
      const body = await frames.all();
      if (!isStream(response)) return body === "" ? head : `${head}\n\n${body}`;
      return `${head}\n\n${body}(close)`;
    }
    const text = await frames.some(reading.frames);
    if (reading.how === "hold") this.#held = frames;
    else response.destroy();
    return `${head}\n\n${text}${reading.how === "hold" ? "(held)" : "(left)"}`;
  }

  async #readOn(): Promise<string> {
    const held = this.#held;
    this.#held = undefined;
    return held ? this.#names.hide(`${await held.all()}(close)`) : "-";
  }
}

const isStream = (response: IncomingMessage): boolean =>
  response.headers["content-type"]?.startsWith("text/event-stream") === true;

function toHead(response: IncomingMessage): string {
  const lines = [String(response.statusCode)];
  const { rawHeaders } = response;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = rawHeaders.slice(i, i + 2) as [string, string];
    if (isTold(name, value)) lines.push(`${name}: ${value}`);
  }
  return lines.join("\n");
}

/** A body, whole or in pieces that end with an empty line. */
class Frames {
  readonly #chunks: AsyncIterator<string>;
  #text = "";

  constructor(response: IncomingMessage) {
    this.#chunks = response.setEncoding("utf8")[Symbol.asyncIterator]();
  }

  /** Frames that did not come are missing in what is returned. */
  async some(count: number): Promise<string> {
    for (;;) {
      const end = endOf(this.#text, count);
      if (end !== -1) return this.#take(end);
      const { value, done } = await this.#chunks.next();
      if (done) return this.#take(this.#text.length);
      this.#text += value;
    }
  }

  async all(): Promise<string> {
    for (;;) {
      const { value, done } = await this.#chunks.next();
      if (done) return this.#take(this.#text.length);
      this.#text += value;
    }
  }

  #take(end: number): string {
    const taken = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    return taken;
  }
}

/** Where the frame of this number ends; -1: it is not there yet. */
function endOf(text: string, frame: number): number {
  let end = 0;
  for (let i = 0; i < frame; i++) {
    const blank = text.indexOf("\n\n", end);
    if (blank === -1) return -1;
    end = blank + 2;
  }
  return end;
}
