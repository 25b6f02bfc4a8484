import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import type { Loose } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/**
 * docs/dialects/README.md B-V10: an agent that needs credentials of its caller asks for them in every
 * dialect, and receives them there.
 */

const SECRET = "key-hunter2";
const keyed: AgentDefinition = {
  name: "keyed",
  async run(task, ctx) {
    const name = String(task.history[0]?.parts[0]?.kind === "text" && task.history[0].parts[0].text);
    const found = await ctx.credentials(name);
    return found?.apiKey === SECRET
      ? "Thank you"
      : ctx.askAuth({ name, scheme: "apiKey", description: "Please." });
  },
};

let server: TestServer;
beforeAll(async () => {
  server = await serve([keyed]);
});
afterAll(() => server.stop());

interface DialectCase {
  readonly name: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The method that sends a message. */
  readonly method: string;
  readonly state: string;
  params(parts: readonly Loose[], taskId?: string, contextId?: string): Loose;
  readonly text: (text: string) => Loose;
  /** undefined: the dialect has no data parts. */
  readonly data?: (data: Loose) => Loose;
}

let messages = 0;
const kind = {
  text: (text: string) => ({ kind: "text", text }),
  data: (data: Loose) => ({ kind: "data", data }),
};
const type = {
  text: (text: string) => ({ type: "text", text }),
  data: (data: Loose) => ({ type: "data", data }),
};
const message = (role: string) => (parts: readonly Loose[], taskId?: string, contextId?: string) => ({
  message: {
    messageId: `m${++messages}`,
    role,
    parts,
    ...(taskId && { taskId }),
    ...(contextId && { contextId }),
  },
});
const named = (parts: readonly Loose[], taskId = `own-${++messages}`) => ({
  id: taskId,
  message: { role: "user", parts },
});

const DIALECT_CASES: readonly DialectCase[] = [
  {
    name: "v1.0",
    path: "/agents/keyed",
    headers: { "a2a-version": "1.0" },
    method: "SendMessage",
    state: "TASK_STATE_AUTH_REQUIRED",
    params: message("ROLE_USER"),
    text: text => ({ text }),
    data: data => ({ data }),
  },
  ...["0.3", "0.2"].map(
    (version): DialectCase => ({
      name: `v${version}`,
      path: "/agents/keyed",
      headers: { "a2a-version": version },
      method: "message/send",
      state: "auth-required",
      params: message("user"),
      ...kind,
    }),
  ),
  {
    name: "v0.1",
    path: "/agents/keyed",
    method: "tasks/send",
    state: "input-required",
    params: named,
    ...type,
  },
  {
    name: "LangGraph",
    path: "/a2a/keyed",
    headers: { accept: "application/json" },
    method: "message/send",
    state: "auth-required",
    params: message("user"),
    ...kind,
  },
  {
    name: "Orloj",
    path: "/v1/agent-systems/keyed/a2a",
    method: "tasks/send",
    state: "input-required",
    params: named,
    ...type,
  },
  {
    name: "simple_a2a",
    path: "/agents/keyed",
    headers: { "a2a-version": "1.0" },
    method: "tasks/send",
    state: "auth_required",
    params: (parts, id) => ({ ...(id && { id }), ...message("user")(parts) }),
    text: text => ({ text, kind: "text" }),
    data: data => ({ data }),
  },
  {
    name: "Arbiter",
    path: "/v1/a2a/agents/keyed",
    method: "message/send",
    state: "auth-required",
    params: message("user"),
    text: kind.text,
  },
];

async function send(dialect: DialectCase, parts: readonly Loose[], task?: Loose): Promise<Loose> {
  const params = dialect.params(parts, task?.id, task?.contextId);
  const response = await fetch(`${server.url}${dialect.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...dialect.headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: dialect.method, params }),
  });
  const { result, error } = (await response.json()) as Loose;
  expect(error).toBeUndefined();
  return result.task ?? result;
}

const textOf = (holder: Loose): string => JSON.stringify(holder);

describe("B-V10: credentials of a caller", () => {
  it.each(DIALECT_CASES)("B-V10: are requested in $name, in text and as data", async dialect => {
    const task = await send(dialect, [dialect.text(`ask-${dialect.name}`)]);
    expect(task.status.state).toBe(dialect.state);
    expect(textOf(task.status.message)).toContain("Please.");
    expect(textOf(task.status.message)).toContain(`${server.url}/credentials`);
  });

  it.each(DIALECT_CASES.filter(one => one.data))(
    "B-V10: are sent in a message of $name, and are removed from it",
    async dialect => {
      const task = await send(dialect, [dialect.text(`give-${dialect.name}`)]);
      const data = dialect.data?.({ credentials: { apiKey: SECRET } });
      const end = await send(dialect, [data], task);
      expect(textOf(end)).toContain("Thank you");
      expect(textOf(end)).not.toContain(SECRET);
    },
  );

  it.each(DIALECT_CASES)("B-V10: are sent to the endpoint of a task of $name", async dialect => {
    const name = `post-${dialect.name}`;
    const task = await send(dialect, [dialect.text(name)]);
    const given = { agent: "keyed", taskId: task.id, credentials: { apiKey: SECRET } };
    const response = await fetch(`${server.url}/credentials`, {
      method: "POST",
      body: JSON.stringify(given),
    });
    expect(response.status).toBe(202);
    // A second request finds them.
    await expect.poll(async () => textOf(await send(dialect, [dialect.text(name)]))).toContain("Thank you");
  });
});
