/** The client of the corpus: sends the requests of a file and returns the responses as text. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Exchange, ExchangeFile, StreamReading, WireRequest } from "./corpus.ts";
import { StableNames } from "./corpus-names.ts";
import { type CorpusServer, startCorpusServer } from "./corpus-server.ts";

/** Headers of the connection, not of the response. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "date",
  "keep-alive",
  "transfer-encoding",
  "content-length",
]);
const isRecorded = (name: string, value: string): boolean =>
  !CONNECTION_HEADERS.has(name.toLowerCase()) &&
  !(name.toLowerCase() === "connection" && value === "keep-alive");

/** Runs the exchanges of a file against a server of its own; one response each. */
export async function runExchanges(file: ExchangeFile): Promise<readonly string[]> {
  const server = await startCorpusServer(file);
  const client = new CorpusClient(server);
  try {
    const responses: string[] = [];
    for (const exchange of file.exchanges) responses.push(await client.run(exchange));
    return responses;
  } finally {
    client.close();
    await server.close();
  }
}

class CorpusClient {
  readonly #server: CorpusServer;
  readonly #names = new StableNames();
  readonly #connections = new Agent({ keepAlive: true });
  #paused: FrameReader | undefined;

  constructor(server: CorpusServer) {
    this.#server = server;
  }

  async run(exchange: Exchange): Promise<string> {
    this.#server.tick();
    if (exchange.request)
      return this.#names.hide(await this.#read(await this.#send(exchange.request), exchange.reading));
    await this.#server.resumeAgents();
    return this.#readPaused();
  }

  close(): void {
    this.#connections.destroy();
  }

  async #send({ verb: method, path, headers, body: text }: WireRequest): Promise<IncomingMessage> {
    const body = Buffer.from(this.#names.show(text));
    const all = headers.flatMap(([name, value]) => [name, this.#names.show(value)]);
    const sent = request({
      method,
      agent: this.#connections,
      host: "127.0.0.1",
      port: this.#server.port,
      path: this.#names.show(path),
      headers: ["Host", "agents.example", "Content-Length", String(body.length), ...all],
    });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return response;
  }

  async #read(response: IncomingMessage, reading: StreamReading): Promise<string> {
    const frames = new FrameReader(response);
    const head = formatHead(response);
    if (reading.until === "end") {
      const body = await frames.readAll();
      if (!isStream(response)) return body === "" ? head : `${head}\n\n${body}`;
      return `${head}\n\n${body}(close)`;
    }
    const text = await frames.read(reading.frames);
    if (reading.until === "pause") this.#paused = frames;
    else response.destroy();
    return `${head}\n\n${text}${reading.until === "pause" ? "(paused)" : "(disconnected)"}`;
  }

  async #readPaused(): Promise<string> {
    const paused = this.#paused;
    this.#paused = undefined;
    return paused ? this.#names.hide(`${await paused.readAll()}(close)`) : "-";
  }
}

const isStream = (response: IncomingMessage): boolean =>
  response.headers["content-type"]?.startsWith("text/event-stream") === true;

function formatHead(response: IncomingMessage): string {
  const lines = [String(response.statusCode)];
  const { rawHeaders } = response;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = rawHeaders.slice(i, i + 2) as [string, string];
    if (isRecorded(name, value)) lines.push(`${name}: ${value}`);
  }
  return lines.join("\n");
}

/** A body, whole or in frames that end with an empty line. */
class FrameReader {
  readonly #chunks: AsyncIterator<string>;
  #text = "";

  constructor(response: IncomingMessage) {
    this.#chunks = response.setEncoding("utf8")[Symbol.asyncIterator]();
  }

  /** Fewer frames if the stream ends before. */
  async read(count: number): Promise<string> {
    for (;;) {
      const end = findFrameEnd(this.#text, count);
      if (end !== -1) return this.#take(end);
      const { value, done } = await this.#chunks.next();
      if (done) return this.#take(this.#text.length);
      this.#text += value;
    }
  }

  async readAll(): Promise<string> {
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

/** Where the frame of this number ends; -1: it has not arrived. */
function findFrameEnd(text: string, frame: number): number {
  let end = 0;
  for (let i = 0; i < frame; i++) {
    const blank = text.indexOf("\n\n", end);
    if (blank === -1) return -1;
    end = blank + 2;
  }
  return end;
}
