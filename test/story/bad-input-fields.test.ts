import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { echo, mirror } from "../support/agents.ts";
import {
  fieldsOf,
  type Loose,
  OFFICIAL_DIALECTS,
  rpcError,
  rpcResult,
  type TestDialect,
  V1,
  V03,
} from "../support/official-dialects.ts";
import { expectNoInternals } from "../support/raw.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** Every field of every method with an invalid value: refused, and the error names the field. */

const folder = tempFolder();
let server: TestServer;
let taskId: string;
beforeAll(async () => {
  // On disk: accepted values are written and read back.
  server = await serve([mirror, echo], { data: folder.path });
  taskId = (await rpcResult(server.url, "SendMessage", V1.sendParams("known"))).task.id;
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});
afterEach(async () => {
  expect((await rpcResult(server.url, "ListTasks", { pageSize: 1 })).pageSize).toBe(1);
  expect(server.log.lines.splice(0).filter(line => line.level === "error")).toEqual([]);
});

const HALF = "\ud800";
const LONG = "x".repeat(100_000);
/**
 * Values that no field of this type accepts. Null is the same as absent, so it is only wrong for a required
 * field.
 */
const NO_TEXT = [5, true, {}, [], ["x"], `a${HALF}`];
const NO_ID = [...NO_TEXT, LONG, "a\u0000b", "a\nb"];
const NO_NEEDED_ID = [...NO_ID, "", null, undefined];
const NO_OBJECT = [5, true, "x", [], [{}]];
const NO_NEEDED_OBJECT = [...NO_OBJECT, null, undefined];
const NO_FLAG = [1, "true", {}, []];
const NO_COUNT = [-1, 1.5, "x", true, {}, [], 1e300, 2 ** 31];
const NO_TEXTS = ["x", 5, true, {}, [5], ["x", null], [["x"]], [HALF], Array(1_001).fill("x")];
const NO_METADATA = [...NO_OBJECT, { a: HALF }, { [HALF]: 1 }];

/** The field, its values, and the part to put it in if that is not plain text. */
type Row = readonly [field: string, wrong: readonly unknown[], part?: object];

const MESSAGE: readonly Row[] = [
  ["message", NO_NEEDED_OBJECT],
  ["message.messageId", NO_NEEDED_ID],
  ["message.taskId", NO_ID],
  ["message.contextId", NO_ID],
  ["message.metadata", NO_METADATA],
  ["message.extensions", NO_TEXTS],
  ["message.referenceTaskIds", NO_TEXTS],
  ["message.parts", [5, true, "x", {}, [], null, undefined]],
  ["message.parts", [Array(1_001).fill({ text: "x", kind: "text" })]],
  ["message.parts[0]", [5, true, "x", [], null]],
  ["message.parts[0].text", NO_TEXT],
  ["message.parts[0].metadata", NO_METADATA],
  ["configuration", NO_OBJECT],
  ["configuration.historyLength", NO_COUNT],
  ["configuration.acceptedOutputModes", NO_TEXTS],
  ["metadata", NO_METADATA],
];
const NO_BASE64 = [...NO_TEXT, "!!!!", "a", "aGk", "a===", "aGk=\n", "aG k="].filter(
  value => value !== "aGk",
);
const NO_URL = [...NO_TEXT, "", "nope", "/path", "//host/path", "http://"];

const V1_SEND: readonly Row[] = [
  ...MESSAGE,
  ["message.role", ["user", "ROLE_SYSTEM", "ROLE_UNSPECIFIED", 0, 3, 1.5, true, {}, [], null, undefined]],
  [
    "message.parts[0]",
    [{}, { metadata: {} }, { text: null }, { text: "a", raw: "aGk=" }, { text: "a", data: null }],
  ],
  ["message.parts[0]", [{ raw: "aGk=", url: "https://a.example" }, { kind: "text" }, { TEXT: "a" }]],
  ["message.parts[0].filename", NO_TEXT],
  ["message.parts[0].mediaType", NO_TEXT],
  ["message.parts[0].raw", NO_BASE64, { raw: "" }],
  ["message.parts[0].url", NO_URL, { url: "" }],
  ["message.parts[0].data", [{ a: HALF }, HALF], { data: 1 }],
  ["configuration.returnImmediately", NO_FLAG],
  ["configuration.taskPushNotificationConfig", NO_OBJECT],
  ["tenant", NO_TEXT],
];
const V03_SEND: readonly Row[] = [
  ...MESSAGE,
  ["message.role", ["ROLE_USER", "tool", "system", "USER", 1, true, {}, [], null, undefined]],
  ["message.parts[0].kind", ["video", "TEXT", "", 5, {}, [], null, undefined]],
  ["message.parts[0].text", [null, undefined]],
  ["message.parts[0].file", NO_NEEDED_OBJECT, { kind: "file", file: {} }],
  ["message.parts[0].file", [{}, { bytes: "aGk=", uri: "https://a.example" }], { kind: "file", file: {} }],
  ["message.parts[0].file.bytes", NO_BASE64, { kind: "file", file: {} }],
  ["message.parts[0].file.uri", NO_URL, { kind: "file", file: {} }],
  ["message.parts[0].file.name", NO_TEXT, { kind: "file", file: { bytes: "aGk=" } }],
  ["message.parts[0].file.mimeType", NO_TEXT, { kind: "file", file: { bytes: "aGk=" } }],
  [
    "message.parts[0].data",
    [...NO_NEEDED_OBJECT.filter(value => !Array.isArray(value)), { a: HALF }],
    { kind: "data", data: {} },
  ],
  ["configuration.blocking", NO_FLAG],
  ["configuration.pushNotificationConfig", NO_OBJECT],
];

const LIST: readonly Row[] = [
  ["contextId", NO_ID],
  ["pageSize", [...NO_COUNT, 0, 101]],
  ["pageToken", [...NO_TEXT, LONG, "\u0000", "nonsense"]],
  ["historyLength", NO_COUNT],
  ["status", ["", "nonsense", -1, 9, 1.5, true, {}, []]],
];
const NO_TIME = [
  ...NO_TEXT,
  "yesterday",
  "2026-13-45T99:99:99Z",
  "2026-01-01",
  "2026-01-01T00:00:00",
  "1735689600",
];

const METHODS: readonly (readonly [TestDialect, string, object, readonly Row[]])[] = [
  [V1, "SendMessage", {}, V1_SEND],
  [V1, "SendStreamingMessage", {}, V1_SEND],
  [
    V1,
    "GetTask",
    { id: "?" },
    [
      ["id", NO_NEEDED_ID],
      ["historyLength", NO_COUNT],
      ["tenant", NO_TEXT],
    ],
  ],
  [
    V1,
    "CancelTask",
    { id: "?" },
    [
      ["id", NO_NEEDED_ID],
      ["metadata", NO_OBJECT],
      ["tenant", NO_TEXT],
    ],
  ],
  [
    V1,
    "SubscribeToTask",
    { id: "?" },
    [
      ["id", NO_NEEDED_ID],
      ["tenant", NO_TEXT],
    ],
  ],
  [
    V1,
    "ListTasks",
    {},
    [...LIST, ["includeArtifacts", NO_FLAG], ["statusTimestampAfter", NO_TIME], ["tenant", NO_TEXT]],
  ],
  [V03, "message/send", {}, V03_SEND],
  [V03, "message/stream", {}, V03_SEND],
  [
    V03,
    "tasks/get",
    { id: "?" },
    [
      ["id", NO_NEEDED_ID],
      ["historyLength", NO_COUNT],
      ["metadata", NO_OBJECT],
    ],
  ],
  [
    V03,
    "tasks/cancel",
    { id: "?" },
    [
      ["id", NO_NEEDED_ID],
      ["metadata", NO_OBJECT],
    ],
  ],
  [
    V03,
    "tasks/resubscribe",
    { id: "?" },
    [
      ["id", NO_NEEDED_ID],
      ["metadata", NO_OBJECT],
    ],
  ],
  [V03, "tasks/list", {}, LIST],
];

/** The params with another value at a path. */
function put(params: Loose, field: string, value: unknown): Loose {
  const copy = structuredClone(params) as Loose;
  const steps = field.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  let at = copy;
  for (const step of steps.slice(0, -1)) at = at[step] ??= {};
  at[steps.at(-1) as string] = value;
  return copy;
}

const isSend = (method: string): boolean => /message/i.test(method);
const show = (value: unknown): string => {
  const text = value === undefined ? "undefined" : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}… (${text.length})` : text;
};

for (const [dialect, method, base, rows] of METHODS)
  describe(`${dialect.name} ${method}`, () => {
    it.each(rows.map(([field, wrong, part]) => ({ field, wrong, part })))(
      "a wrong $field is -32602, and the error names the field",
      async ({ field, wrong, part }) => {
        const params: Loose = isSend(method)
          ? dialect.sendParams("x", part && { parts: [part] })
          : { ...base };
        if (params.id) params.id = taskId;
        const failures: string[] = [];
        for (const value of wrong) {
          const error = await rpcError(server.url, method, put(params, field, value)).catch(
            refusal => refusal,
          );
          if (error instanceof Error) failures.push(`${show(value)} was taken`);
          else {
            expectNoInternals(JSON.stringify(error));
            const named = dialect === V1 ? fieldsOf(error)[0] : error.message;
            if (error.code !== -32602) failures.push(`${show(value)} got ${error.code}`);
            else if (!named?.startsWith(field)) failures.push(`${show(value)} was said of ${show(named)}`);
            expect(error.message.length).toBeLessThan(500);
          }
        }
        expect(failures).toEqual([]);
      },
    );
  });

describe.each(OFFICIAL_DIALECTS)("$name: text", dialect => {
  it.each([
    ["a NUL", "a\u0000b"],
    ["control characters", "\u0001\u001f\u007f\u0080"],
    ["line ends of all kinds", "\r\n\n\r\u0085\u2028\u2029"],
    ["the byte order mark", "\ufeffx"],
    ["noncharacters", "\ufffe\uffff"],
    ["characters beyond the first plane", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 🙂"],
    ["a page", "<html><script>alert(1)</script>"],
    ["quotes and backslashes", '"\'\\\\"` $x {{y}} %s %00'],
    ["SQL", "'); DROP TABLE task; --"],
    ["nothing", ""],
    ["a lot", "long ".repeat(200_000)],
  ])("with %s is returned unchanged", async (_, text) => {
    const task = dialect.taskIn(await rpcResult(server.url, dialect.send, dialect.sendParams(text)));
    expect(task.artifacts[0].parts[0].text).toBe(text);
    expect((await rpcResult(server.url, dialect.get, { id: task.id })).history[0].parts[0].text).toBe(text);
  });

  it.each([
    ["1000 parts", { parts: Array(1_000).fill(dialect.textPart("x")) }],
    ["ids of 256 characters", { messageId: "m".repeat(256), contextId: "c".repeat(256) }],
    ["100 references", { referenceTaskIds: Array(100).fill("r") }],
  ])("%s are accepted", async (_, more) => {
    const task = dialect.taskIn(await rpcResult(server.url, dialect.send, dialect.sendParams("x", more)));
    expect(dialect.stateOf(task)).toBe("completed");
  });
});
