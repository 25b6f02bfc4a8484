import { CHUNK_MARK } from "../agents/script.ts";
import type { Answer } from "./answer.ts";
import { checkFrontEnd, isFrontEnd } from "./front-ends.ts";
import { readReply } from "./grpc.ts";
import { type Binding, LIST_PAGE, type RpcWire, type Wire, type Work } from "./order.ts";
import { type Json, member, SPELLINGS } from "./wire.ts";

/** The expected response. */
export interface Expected {
  wire: Wire;
  over: Binding;
  work: Work;
  key: string;
  /** The text that the agent echoes; the chunks of a stream are known. */
  text: string;
}

/** The bytes of a protobuf status with the state number 3. */
const COMPLETED = "\x08\x03";

/** Every response is checked like this: cheap, so that the generator never becomes the limit. */
export function checkQuickly(answer: Answer, expected: Expected): void {
  const { wire, over, work, key } = expected;
  if (isFrontEnd(wire)) return checkFrontEnd(answer, wire, expected);
  const { status, body } = answer;
  if (status !== 200) throw new Error(`HTTP ${status}: ${body.slice(0, 200)}`);
  if (!body.includes(key)) throw new Error(`a response to another call: ${body.slice(0, 200)}`);
  if (!body.includes(over === "grpc" ? COMPLETED : SPELLINGS[wire].completed))
    throw new Error(`not completed: ${body.slice(-300)}`);
  if (work.kind === "stream" || work.kind === "resume") checkCount(body, CHUNK_MARK, work.chunks);
  if (work.kind === "list") checkCount(body, SPELLINGS[wire].completed, LIST_PAGE);
}

/** The first response of an order is parsed like a client does. */
export function checkFully(answer: Answer, expected: Expected): void {
  checkQuickly(answer, expected);
  const { wire, work, text } = expected;
  if (isFrontEnd(wire)) return;
  if (work.kind === "stream") checkStream(answer.body, wire, work.chunks);
  else if (work.kind === "resume") checkOrder(readArtifacts(answer.body, wire));
  else if (work.kind !== "list") checkTask(readTask(answer, expected), text);
}

export function readTask(answer: Answer, { wire, over, work }: Expected): Json {
  const body = over === "grpc" ? (readReply(answer.body) as Json) : readJson(answer.body);
  const result = over === "jsonrpc" ? member(body, "result") : body;
  return work.kind === "get" ? result : SPELLINGS[wire as RpcWire].toTask(result);
}

/** MCP answers with a stream of one event. */
function readJson(body: string): Json {
  return JSON.parse(body.startsWith("event:") ? body.slice(body.indexOf("data:") + "data:".length) : body);
}

function checkTask(task: Json, text: string): void {
  const part = at(member(at(member(task, "artifacts"), 0), "parts"), 0);
  if (String(part.text) !== text) throw new Error(`the artifact is not the echo: ${JSON.stringify(task)}`);
}

function checkCount(body: string, mark: string, expected: number): void {
  let count = 0;
  for (let from = body.indexOf(mark); from >= 0; from = body.indexOf(mark, from + 1)) count++;
  if (count !== expected) throw new Error(`${count} times ${mark} instead of ${expected}`);
}

function checkStream(body: string, wire: RpcWire, chunks: number): void {
  const events = readEvents(body).map(SPELLINGS[wire].toEvent);
  if (events[0]?.kind !== "task") throw new Error(`a stream begins with ${events[0]?.kind}`);
  if (events.at(-1)?.kind !== "status") throw new Error(`a stream ends with ${events.at(-1)?.kind}`);
  const artifacts = readArtifacts(body, wire);
  const ids = new Set(artifacts.map(artifact => String(artifact.artifactId)));
  if (artifacts.length !== chunks) throw new Error(`${artifacts.length} events for ${chunks} chunks`);
  if (ids.size !== 1) throw new Error(`chunks in ${ids.size} artifacts`);
  checkOrder(artifacts);
}

function readArtifacts(body: string, wire: RpcWire): Json[] {
  const events = readEvents(body).map(SPELLINGS[wire].toEvent);
  return events.filter(event => event.kind === "artifact").map(event => member(event.value, "artifact"));
}

function checkOrder(artifacts: Json[]): void {
  artifacts.forEach((artifact, index) => {
    const text = String(at(member(artifact, "parts"), 0).text);
    if (!text.startsWith(`${CHUNK_MARK}${index} `))
      throw new Error(`chunk ${index} is: ${text.slice(0, 40)}`);
  });
}

function readEvents(body: string): Json[] {
  const lines = body.split(/\r?\n/).filter(line => line.startsWith("data:"));
  return lines.map(line => member(JSON.parse(line.slice("data:".length)) as Json, "result"));
}

function at(list: Json, index: number): Json {
  return member(list, String(index));
}
