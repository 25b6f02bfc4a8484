import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../lib/json.ts";
import {
  type AgentName,
  type ContextId,
  Fault,
  LIMITS,
  type PushConfig,
  type Seq,
  type Step,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import type { Dialect, WireCall } from "../../ports/index.ts";
import { createDialects } from "../index.ts";

const OPTIONS = {
  versionPolicy: "lenient",
  cardPolicy: "hybrid",
  errorTable: "1.0.1",
  langgraph: "on",
  orloj: "on",
  arbiter: "on",
  simple: "on",
  openai: "off",
  aisdk: "off",
  agui: "off",
  catalog: "off",
  v11: "on",
} as const;
const DIALECTS = createDialects(OPTIONS);
const find = (name: string, among = DIALECTS): Dialect => among.find(one => one.name === name) as Dialect;

const task: Task = {
  id: "t1" as TaskId,
  contextId: "c1" as ContextId,
  agent: "echo" as AgentName,
  origin: "v1",
  alias: "mine",
  status: { state: "completed", at: 0 },
  artifacts: [{ artifactId: "a1", name: "response", parts: [{ kind: "text", text: "hi" }] }],
  history: [],
  createdAt: 0,
  turn: 1,
  attempt: 1,
  attemptsBefore: 0,
  crashes: 0,
  shown: true,
  quiet: false,
};
const toStep = (event: TaskEvent | null, now = task): Step => ({
  seq: 5 as Seq,
  at: 0,
  taskId: now.id,
  contextId: now.contextId,
  event,
  task: now,
});
const toConfig = (events: PushConfig["events"]): PushConfig => ({
  id: "p1",
  url: "https://hooks.example/",
  origin: "v1",
  events,
});

const ended: TaskEvent = { type: "status", state: "completed" };
const chunk = (last: boolean): TaskEvent & { type: "artifact" } => ({
  type: "artifact",
  artifact: { artifactId: "a1", parts: [{ kind: "text", text: "hi" }] },
  append: true,
  last,
  join: true,
});
const TS = "1970-01-01T00:00:00.000Z";
const ids = { taskId: "t1", contextId: "c1" };
const ARTIFACT = { artifactId: "a1", name: "response", parts: [{ kind: "text", text: "hi" }] };
const V03_TASK = {
  kind: "task",
  id: "t1",
  contextId: "c1",
  status: { state: "completed", timestamp: TS },
  artifacts: [ARTIFACT],
};

/** The payload for a completed task, by the dialect that the config was set in (R16 in docs/dialects/README.md). */
const ENDED: readonly [name: string, body: Json][] = [
  ["v1", { statusUpdate: { ...ids, status: { state: "TASK_STATE_COMPLETED", timestamp: TS } } }],
  ["v03", V03_TASK],
  ["v02", V03_TASK],
  ["langgraph", { ...V03_TASK, artifacts: [{ ...ARTIFACT, name: "Assistant Response" }] }],
  [
    "simple",
    {
      type: "TaskStatusUpdateEvent",
      ...ids,
      status: { state: "completed", timestamp: TS },
      final: true,
    },
  ],
  [
    "v01",
    {
      id: "mine",
      sessionId: "c1",
      status: { state: "completed", timestamp: TS },
      artifacts: [{ name: "response", parts: [{ type: "text", text: "hi" }], index: 0 }],
    },
  ],
];

describe("push payload", () => {
  it.each(ENDED)("%s: a completed task", (name, body) => {
    const payload = find(name).encodePush(toStep(ended), toConfig("all"));
    const type = name === "v1" ? "application/a2a+json" : "application/json";
    expect(payload).toEqual({ type, body });
  });

  it("arbiter and orloj: the whole task in their own shape", () => {
    const bodyOf = (name: string) => find(name).encodePush(toStep(ended), toConfig("all"))?.body;
    expect(bodyOf("arbiter")).toMatchObject({
      kind: "task",
      id: "t1",
      status: { state: "completed", message: { parts: [{ text: "hi" }] } },
      metadata: { "x-arbiter.agent_id": "echo" },
    });
    expect(bodyOf("orloj")).toMatchObject({ id: "mine", status: { state: "completed" } });
  });

  it("v1 with errorTable 1.0.0: the media type is application/json", () => {
    const old = find("v1", createDialects({ ...OPTIONS, errorTable: "1.0.0" }));
    expect(old.encodePush(toStep(ended), toConfig("all"))?.type).toBe("application/json");
  });

  it("protocols with event payloads send every artifact chunk, protocols with task payloads only the last one", () => {
    const sendersOf = (last: boolean) =>
      DIALECTS.filter(one => one.encodePush(toStep(chunk(last)), toConfig("all"))).map(one => one.name);
    expect(sendersOf(false)).toEqual(["simple", "v11", "v1"]);
    // Arbiter has no artifacts before the end of a task.
    expect(sendersOf(true)).toEqual(DIALECTS.map(one => one.name).filter(name => name !== "arbiter"));
  });

  it.each(DIALECTS)('$name: a config with events "status" gets no artifact events', dialect => {
    expect(dialect.encodePush(toStep(chunk(true)), toConfig("status"))).toBeNull();
    expect(dialect.encodePush(toStep(ended), toConfig("status"))).not.toBeNull();
    expect(dialect.encodePush(toStep(null), toConfig("status"))).not.toBeNull();
  });

  it.each(DIALECTS)("$name: internal events and bare messages are not sent", dialect => {
    const reply = { messageId: "m", role: "agent" as const, parts: [] };
    for (const event of [
      { type: "usage", usage: {} },
      { type: "released" },
      { type: "shown" },
      { type: "cancel" },
    ] as const)
      expect(dialect.encodePush(toStep(event), toConfig("all")), event.type).toBeNull();
    const bare = toStep({ type: "reply", message: reply }, { ...task, reply });
    expect(dialect.encodePush(bare, toConfig("all"))).toBeNull();
  });
});

// ---- configs -------------------------------------------------------------------------------------------------

const toCall = (endpoint: string, method: string, params: Json, headers = {}): WireCall => ({
  transport: "jsonrpc",
  endpoint,
  vars: { agent: "echo" },
  certificate: () => undefined,
  headers,
  query: new URLSearchParams(),
  base: () => "http://localhost",
  method,
  params,
  metadata: undefined,
  bytes: 0,
  signal: () => AbortSignal.abort(),
});

const decode = (config: JsonObject, headers = {}) =>
  find("v1").decode(toCall("/", "CreateTaskPushNotificationConfig", { taskId: "t1", ...config }, headers));
const url = "https://hooks.example/";

/** The field and the message of the error. */
function findError(config: JsonObject, headers = {}): string {
  try {
    decode(config, headers);
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid-params")
      return `${error.details.field}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

describe("push config", () => {
  it.each<[what: string, config: JsonObject, refusal: RegExp]>([
    ["no URL", {}, /^url: url is required/],
    ["a URL without a scheme", { url: "hooks.example" }, /^url: .* must be an absolute URL/],
    ["a file", { url: "file:///etc/passwd" }, /^url: .* must be an absolute URL/],
    ["a URL with a line break", { url: "https://hooks.example/\r\nX: y" }, /^url: .* absolute URL/],
    ["a URL with a password", { url: "https://me:pw@hooks.example/" }, /^url: .* use authentication instead/],
    ["a long URL", { url: url + "x".repeat(LIMITS.pushUrlCharsMax) }, /^url: .* at most 2048 characters/],
    ["a token with a line break", { url, token: "a\r\nX: y" }, /^token: .* printable/],
    ["a long token", { url, token: "x".repeat(LIMITS.pushSecretCharsMax + 1) }, /^token: .* at most 4096/],
    ["a secret that is no string", { url, secret: 1 }, /^secret: .* must be a string/],
    [
      "credentials with a line break",
      { url, authentication: { scheme: "Bearer", credentials: "a\nb" } },
      /^authentication.credentials: .* printable/,
    ],
    [
      "a scheme with a space",
      { url, authentication: { scheme: "Bearer x" } },
      /^authentication.scheme: .* must be a token/,
    ],
    [
      "credentials without a scheme",
      { url, authentication: { credentials: "x" } },
      /^authentication: .* must name the scheme/,
    ],
    ["unknown events", { url, events: "some" }, /^events: events must be "all" or "status"/],
  ])("is refused with %s", (_what, config, refusal) => {
    expect(findError(config)).toMatch(refusal);
  });

  it("the header Dragoman-Push-Events replaces the member events", () => {
    const headers = { "dragoman-push-events": "status" };
    expect(decode({ url }, headers)).toMatchObject({ config: { events: "status" } });
    expect(decode({ url, events: "all" }, headers)).toMatchObject({ config: { events: "all" } });
    expect(findError({ url }, { "dragoman-push-events": "?" })).toMatch(/^Dragoman-Push-Events: /);
  });

  it("simple_a2a: headerName must be a token", () => {
    const set = (headerName: string) => () =>
      find("simple").decode(
        toCall("/", "tasks/pushNotification/set", {
          id: "t1",
          pushNotificationConfig: {
            webhookUrl: url,
            authenticationInfo: { scheme: "token", value: "s3", headerName },
          },
        }),
      );
    expect(set("X-Hook")()).toMatchObject({
      config: { authentication: { schemes: ["Token"], credentials: "s3", header: "X-Hook" } },
    });
    expect(set("a b")).toThrow("headerName must be a token");
  });
});
