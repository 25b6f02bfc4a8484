/** The contract of every protocol: its calls go through a whole server, and its errors are those of its table. */
import { agent } from "../../agent/definition.ts";
import type { Json } from "../../lib/json.ts";
import { FAULTS, type FaultCode } from "../../model/index.ts";
import type { Dialect, ReplyContext } from "../../ports/index.ts";
import { TEST_URL } from "../caller.ts";
import { createTestServer, type TestServer } from "../test-server.ts";
import { type ContractCase, defineContract } from "./contract.ts";
import { expect } from "./expect.ts";

export interface ProtocolRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly body?: Json | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What a response says, in the words of this server. */
export interface ProtocolTask {
  readonly id: string;
  /** "completed", "input-required", … */
  readonly state: string;
  /** The text of the artifacts. */
  readonly text: string;
}

/** A protocol, and requests in it to the agent `tested`. */
export interface ProtocolUnderTest {
  readonly dialect: Dialect;
  /** The server has this protocol already. */
  readonly isBuiltIn?: true;
  /** Sends a text and waits for the end of the turn; `taskId`: as an answer. */
  send(text: string, taskId?: string): ProtocolRequest;
  get(taskId: string): ProtocolRequest;
  /** undefined: the protocol has no such call. */
  readonly cancel: ((taskId: string) => ProtocolRequest) | undefined;
  /** undefined: the protocol has no streams. */
  readonly stream: ((text: string) => ProtocolRequest) | undefined;
  /** Reads a successful response of `send`, `get` and `cancel`. */
  read(body: Json): ProtocolTask;
  /** Reads the error of a response: its number in the table of the protocol; undefined: it is no error. */
  readError(status: number, body: Json): number | undefined;
  /** Which number of its table a response shows. */
  readonly errorNumber: "rpc" | "http";
  /** Requests that are not valid, by the reason. */
  readonly bad: Readonly<Record<string, ProtocolRequest>>;
}

const tested = agent({
  name: "tested",
  async *run(task, ctx) {
    if (task.turn > 1) return yield ctx.text(`You chose ${task.text}`);
    if (task.text === "fail") throw new Error("SECRET");
    if (task.text === "ask") return yield ctx.ask("Which colour?");
    if (task.text === "wait") {
      yield ctx.text("waiting");
      await new Promise(resolve => ctx.signal.addEventListener("abort", resolve));
    } else for (const word of ["one ", "two ", "three"]) yield ctx.text(word);
  },
});

/** Bodies that no protocol expects. */
const STRANGE: readonly Json[] = [null, true, 7, "text", [], [[]], {}, { a: { b: [null] } }, ["x", 1]];

const CODES = Object.keys(FAULTS) as readonly FaultCode[];

export function protocolContract(create: () => ProtocolUnderTest): readonly ContractCase[] {
  return defineContract("the protocol", ({ afterEach, beforeEach, it }) => {
    let under: ProtocolUnderTest;
    let server: TestServer;
    beforeEach(async () => {
      under = create();
      server = await createTestServer({
        agents: [tested],
        protocols: under.isBuiltIn ? [] : [under.dialect],
      });
    });
    afterEach(() => server.close());

    async function call(request: ProtocolRequest): Promise<{ status: number; body: Json; text: string }> {
      const { method, path, body, headers } = request;
      const response = await server.fetch(TEST_URL + path, {
        method,
        headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: parse(text), text };
    }
    const read = async (request: ProtocolRequest): Promise<ProtocolTask> => {
      const { status, body } = await call(request);
      expect(under.readError(status, body)).toBeUndefined();
      return under.read(body);
    };
    const errorOf = async (request: ProtocolRequest): Promise<number | undefined> => {
      const { status, body } = await call(request);
      return under.readError(status, body);
    };
    const numberOf = (code: FaultCode): number => under.dialect.faults[code][under.errorNumber];

    it("has numbers for every fault, and encodes each with its numbers", () => {
      const { dialect } = under;
      for (const code of CODES) {
        const numbers = dialect.faults[code];
        expect(Number.isInteger(numbers?.rpc) && numbers.http >= 200 && numbers.http < 600, code).toBe(true);
        for (const route of dialect.routes) {
          const context: ReplyContext = {
            transport: route.transport,
            endpoint: route.path,
            headers: {},
            query: new URLSearchParams(),
            method: route.method,
          };
          const fault = { code, message: FAULTS[code], details: {} };
          expect(dialect.encodeFault(fault, context), code).toMatchObject({ code, ...numbers });
        }
      }
    });

    it("sends a message, and reads the same task again", async () => {
      const sent = await read(under.send("go"));
      expect([sent.state, sent.text]).toEqual(["completed", "one two three"]);
      expect(await read(under.get(sent.id))).toEqual(sent);
    });

    it("shows tasks that were created in another protocol, and another protocol shows its tasks", async () => {
      const other = await server.send("go");
      expect(await read(under.get(other.id))).toEqual({ id: other.id, state: "completed", text: other.text });
      const { id } = await read(under.send("go"));
      expect((await server.task(id)).text).toBe("one two three");
    });

    it("answers a question", async () => {
      const asked = await read(under.send("ask"));
      expect(asked.state).toBe("input-required");
      const ended = await read(under.send("blue", asked.id));
      expect(ended).toEqual({ id: asked.id, state: "completed", text: "You chose blue" });
    });

    it("streams the text of a turn, and ends with it", async ({ skip }) => {
      if (!under.stream) return skip("it has no streams");
      const { status, text } = await call(under.stream("go"));
      expect(status).toBe(200);
      let from = 0;
      for (const word of ["one ", "two ", "three"]) {
        expect(text.indexOf(word, from), word).toBeGreaterThanOrEqual(0);
        from = text.indexOf(word, from) + word.length;
      }
    });

    it("cancels a task, and refuses to cancel a task that has ended", async ({ skip }) => {
      if (!under.cancel) return skip("it cannot cancel");
      const { id } = await (await server.start("wait")).until(task => task.text === "waiting");
      expect(await read(under.cancel(id))).toEqual({ id, state: "canceled", text: "waiting" });
      const ended = await read(under.send("go"));
      expect(await errorOf(under.cancel(ended.id))).toBe(numberOf("task-not-cancelable"));
    });

    it("does not show what an agent threw", async () => {
      const { body } = await call(under.send("fail"));
      expect(under.read(body).state).toBe("failed");
      expect(JSON.stringify(body)).not.toContain("SECRET");
    });

    it("answers with its number for a task that is not found", async () => {
      expect(await errorOf(under.get("00000000-0000-7000-8000-000000000000"))).toBe(
        numberOf("task-not-found"),
      );
    });

    it("refuses invalid requests, and never with an internal error", async () => {
      for (const [why, request] of Object.entries(under.bad)) {
        const error = await errorOf(request);
        expect(error, why).toBeDefined();
        expect(error, why).not.toBe(numberOf("internal"));
      }
      const { body, ...sent } = under.send("go");
      for (const strange of STRANGE)
        expect(await errorOf({ ...sent, body: strange }), JSON.stringify(strange)).not.toBe(
          numberOf("internal"),
        );
      for (const strange of toStrange(body ?? null))
        expect(await errorOf({ ...sent, body: strange }), JSON.stringify(strange)).not.toBe(
          numberOf("internal"),
        );
    });
  });
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** A valid body with one member replaced by a value of another type, for each member at each depth. */
function* toStrange(body: Json): Generator<Json> {
  if (typeof body !== "object" || body === null) return;
  for (const [key, value] of Object.entries(body)) {
    const replaced = (other: Json): Json =>
      Array.isArray(body)
        ? body.map((one, i) => (String(i) === key ? other : one))
        : { ...body, [key]: other };
    for (const other of STRANGE) yield replaced(other);
    for (const inner of toStrange(value as Json)) yield replaced(inner);
  }
}
