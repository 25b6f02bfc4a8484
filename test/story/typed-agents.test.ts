import { decodeStatus, GRPC_STATUS_DETAILS_BIN } from "@a2a-js/sdk/errors/grpc";
import { type ServiceError, status } from "@grpc/grpc-js";
import { Client as LanggraphClient } from "@langchain/langgraph-sdk";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { MessageSendParams, Part } from "a2a-v03";
import { GrpcTransport } from "a2a-v03/client/grpc";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { agent } from "../../src/agent/definition.ts";
import { adminGet } from "../support/admin-client.ts";
import { rpc } from "../support/client.ts";
import { createGrpcClient, refusedBy } from "../support/grpc.ts";
import type { Loose } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Agents with schemas, as callers of every surface beside the dialects see them; test/corpus has the dialects. */

let server: TestServer;
const runs: string[] = [];

const FORECAST = z.object({ city: z.string(), on: z.coerce.date().optional() });
const STOP = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const trip = agent({
  name: "trip",
  skills: [
    {
      id: "forecast",
      description: "Tells the weather",
      input: FORECAST,
      inputSchema: z.toJSONSchema(z.object({ city: z.string(), on: z.iso.date().optional() })),
      output: z.object({ sky: z.enum(["blue", "grey"]), sure: z.boolean().default(false) }),
    },
    {
      id: "route",
      description: "Finds a way",
      input: {
        type: "object",
        properties: { from: { $ref: "#/$defs/stop" } },
        required: ["from"],
        $defs: { stop: STOP },
      },
    },
  ],
  async *run(task, ctx) {
    runs.push(task.skill);
    if (task.skill === "route") return yield ctx.text("that way");
    const { city, on } = task.input;
    if (city === "Nowhere") return yield ctx.output({ sky: "green" } as never);
    if (task.turn === 1 && city === "Springfield") return yield ctx.ask("In which state?");
    yield ctx.text(
      `${city} ${on instanceof Date ? on.getUTCFullYear() : "now"}${task.turn > 1 ? ` ${task.text}` : ""}`,
    );
    yield ctx.output({ sky: "blue" });
  },
});
const counter = agent({
  name: "counter",
  input: v.object({ n: v.pipe(v.number(), v.maxValue(9)) }),
  inputSchema: { type: "object", properties: { n: { type: "number", maximum: 9 } }, required: ["n"] },
  run: (task, ctx) => ctx.data({ next: task.input.n + 1 }),
});
const hidden = agent({ name: "hidden", tenants: ["other"], input: { type: "object" }, run: () => "" });

beforeAll(async () => {
  server = await serve([trip, counter, hidden], { mcp: true });
});
afterAll(() => server.stop());

const message = (parts: readonly object[], more: object = {}) => ({
  message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts, ...more },
});
const send = async (name: string, data: unknown, more: object = {}) =>
  (await rpc(`${server.url}/agents/${name}`, "SendMessage", message([{ data }], more))).body;

describe("an agent with schemas", () => {
  it("gets its input with the types of the schema, and its output is completed", async () => {
    const { result } = await send("trip", { city: "Paris", on: "2026-05-01" });
    const [text, output] = result.task.artifacts;
    expect(text.parts).toEqual([{ text: "Paris 2026" }]);
    expect(output).toMatchObject({ name: "output", parts: [{ data: { sky: "blue", sure: false } }] });
  });

  it("keeps the input of the task in later turns; answers are not checked", async () => {
    const first = (await send("trip", { city: "Springfield" })).result.task;
    expect(first.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const answer = message([{ text: "Ohio" }], { taskId: first.id });
    const { result } = (await rpc(`${server.url}/agents/trip`, "SendMessage", answer)).body;
    expect(result.task.artifacts[0].parts).toEqual([{ text: "Springfield now Ohio" }]);
  });

  it("begins no run for input that does not match", async () => {
    const before = runs.length;
    const { error } = await send("trip", { city: 1 }, { metadata: { skillId: "forecast" } });
    expect(error.message).toContain("message.parts[0].data.city: ");
    expect((await send("counter", { n: 10 })).error.message).toBe(
      "message.parts[0].data.n: Invalid value: Expected <=9 but received 10",
    );
    expect(runs.length).toBe(before);
  });

  it("fails with a reference if its own output does not match, and the operator gets the reason", async () => {
    const { result } = await send("trip", { city: "Nowhere" });
    expect(result.task.status.state).toBe("TASK_STATE_FAILED");
    expect(JSON.stringify(result)).not.toContain("sky");
    const { json } = await adminGet(server.url, `/tasks/${result.task.id}`);
    expect(JSON.stringify(json)).toContain("ctx.output: the value does not match the output schema: sky: ");
  });
});

/** The fields of google.rpc.BadRequest, as the official SDK decodes the status. */
function violationIn(error: ServiceError): string {
  const { details } = decodeStatus(error.metadata.get(GRPC_STATUS_DETAILS_BIN)[0] as Buffer);
  expect(details[1]?.typeUrl).toBe("type.googleapis.com/google.rpc.BadRequest");
  return String(details[1]?.value);
}

describe("gRPC", () => {
  const host = () => new URL(server.url).host;
  const agentName = { "a2a-agent": "trip" };

  it("of v1.0 refuses input before a run begins, and names the field", async () => {
    const before = runs.length;
    const client = createGrpcClient(host());
    const request = message([{ data: { city: 5 } }], { metadata: { skillId: "forecast" } });
    const unary = await refusedBy(client.ask("SendMessage", request, agentName));
    const { error } = await client.open("SendStreamingMessage", request, agentName).ended();
    for (const one of [unary, error as ServiceError]) {
      expect([one.code, violationIn(one)]).toEqual([
        status.INVALID_ARGUMENT,
        expect.stringContaining("message.parts[0].data.city"),
      ]);
      expect(one.details).toMatch(/^message\.parts\[0\]\.data\.city: /);
    }
    expect(runs.length).toBe(before);
    client.close();
  });

  it("of v0.3 does so too, with the names of its definition", async () => {
    const before = runs.length;
    const transport = new GrpcTransport({ endpoint: host() });
    const options = { serviceParameters: agentName };
    const refused = async (part: Part, skillId: string): Promise<readonly ServiceError[]> => {
      const params: MessageSendParams = {
        message: { kind: "message", messageId: "m", role: "user", parts: [part], metadata: { skillId } },
      };
      return Promise.all(
        [transport.sendMessage(params, options), transport.sendMessageStream(params, options).next()].map(
          async call => (await refusedBy(call)).cause as ServiceError,
        ),
      );
    };
    const data = { kind: "data", data: { from: {} } } as const;
    for (const [part, skill, field] of [
      [data, "route", "message.content[0].data.data.from.name"],
      [{ kind: "text", text: "Paris" }, "forecast", "message.content"],
      [data, "cooking", "message.metadata.skillId"],
    ] as const)
      for (const error of await refused(part, skill)) {
        expect([error.code, violationIn(error)]).toEqual([
          status.INVALID_ARGUMENT,
          expect.stringContaining(field),
        ]);
        expect(error.details.startsWith(`${field}: `)).toBe(true);
      }
    expect(runs.length).toBe(before);
  });
});

describe("MCP", () => {
  it("has a tool for each skill with its schema, and refuses arguments by name", async () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "trip__forecast",
      "trip__route",
      "counter",
      "get_task",
      "cancel_task",
    ]);
    expect(tools[0]).toMatchObject({
      description: "Tells the weather",
      inputSchema: { properties: { data: { properties: { city: { type: "string" } }, required: ["city"] } } },
    });
    const call = (name: string, data: object) =>
      client.callTool({ name, arguments: { data: data as never } });
    expect(await call("trip__forecast", { city: 5 })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Invalid params: data\.city: /) }],
    });
    expect(await call("trip__route", { from: { name: "A" } })).toMatchObject({
      structuredContent: { text: "that way" },
    });
    await client.close();
  });
});

describe("LangGraph's API", () => {
  const client = () => new LanggraphClient({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
  const idOf = async (graphId: string) =>
    (await client().assistants.search({ graphId }))[0]?.assistant_id as string;

  it("has the schemas of an agent", async () => {
    expect(await client().assistants.getSchemas(await idOf("counter"))).toMatchObject({
      input_schema: { required: ["n"] },
    });
    expect(await client().assistants.getSchemas(await idOf("trip"))).toMatchObject({
      input_schema: {
        anyOf: [
          { title: "forecast", required: ["city"] },
          { title: "route", required: ["from"] },
        ],
      },
    });
  });

  it("refuses input with a 422 that names the member, and takes the skill from configurable", async () => {
    const wait = (input: object, skillId: string) =>
      client().runs.wait(null, "trip", { input: input as never, config: { configurable: { skillId } } });
    await expect(wait({ city: 5 }, "forecast")).rejects.toThrow(/422.*input\.city: /s);
    await expect(wait({ from: {} }, "route")).rejects.toThrow(/input\.from\.name: is required/);
    await wait({ from: { name: "A" } }, "route");
    expect(runs.at(-1)).toBe("route");
  });
});

describe("descriptions", () => {
  it("/openapi.json has the schemas as components that the data of a part refers to", async () => {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Loose;
    const { schemas } = document.components;
    expect(Object.keys(schemas).filter(name => name.startsWith("agent."))).toEqual([
      "agent.trip.forecast.input",
      "agent.trip.forecast.output",
      "agent.trip.route.input",
      "agent.counter.input",
    ]);
    expect(schemas.V1Part.properties.data.anyOf).toContainEqual({
      $ref: "#/components/schemas/agent.counter.input",
    });
    const check = new Ajv2020({ strict: false }).compile(schemas["agent.trip.route.input"]);
    expect([check({ from: { name: "A" } }), check({ from: {} })]).toEqual([true, false]);
  });

  it("the admin API has them for the console", async () => {
    const { json } = await adminGet(server.url, "/agents/trip");
    expect(json).toMatchObject({
      inputSchema: null,
      skills: [{ inputSchema: { required: ["city"] } }, { inputSchema: { required: ["from"] } }],
    });
  });
});
