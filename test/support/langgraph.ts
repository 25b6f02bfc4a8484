/** A client of the LangGraph mount, and agents for it. */
import { request } from "node:http";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import type { RpcReply } from "./client.ts";

type Extra = Readonly<Record<string, unknown>>;

/** Posts a body unchanged; `accept`: null sends none. */
export function post(
  url: string,
  body: unknown,
  accept: string | null = "application/json",
): Promise<RpcReply> {
  const headers = { "content-type": "application/json", ...(accept !== null && { accept }) };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  // Not fetch, which adds its own Accept.
  const { promise, resolve, reject } = Promise.withResolvers<RpcReply>();
  const sent = request(url, { method: "POST", headers }, response => {
    let answer = "";
    response.setEncoding("utf8").on("data", chunk => (answer += chunk));
    response.on("end", () =>
      resolve({
        status: response.statusCode as number,
        headers: new Headers(response.headers as Record<string, string>),
        body: toBody(answer),
      }),
    );
  });
  sent.on("error", reject).end(text);
  return promise;
}

function toBody(text: string): unknown {
  if (text === "" || text.startsWith("id:")) return text;
  return JSON.parse(text);
}

let calls = 0;

/** The envelope of a call; `more`: members beside the parameters. */
export const envelope = (method: string, params: unknown, more: Extra = {}): object => ({
  jsonrpc: "2.0",
  id: `call-${++calls}`,
  method,
  params,
  ...more,
});

/** The result of a call that must succeed. */
export async function langgraphResult(url: string, method: string, params: unknown, more: Extra = {}) {
  const { status, body } = await post(url, envelope(method, params, more));
  if (status !== 200 || !body.result) throw new Error(`${method} was refused: ${JSON.stringify(body)}`);
  return body.result;
}

/** The error of a call that must be refused in its envelope. */
export async function langgraphError(url: string, method: string, params: unknown) {
  const { status, body } = await post(url, envelope(method, params));
  if (status !== 200 || !body.error?.code) throw new Error(`${method}: ${status} ${JSON.stringify(body)}`);
  return body.error;
}

let messages = 0;

/** Parameters of a send: text, or parts. */
export function langgraphParams(
  content: string | readonly object[],
  more: Extra = {},
): { readonly message: object } {
  const parts = typeof content === "string" ? [{ kind: "text", text: content }] : content;
  return { message: { role: "user", parts, messageId: `msg-${++messages}`, ...more } };
}

/** A data part that answers questions by their ids. */
export const resume = (answers: Readonly<Record<string, unknown>>): object => ({
  kind: "data",
  data: { resume: Object.entries(answers).map(([id, value]) => ({ id, value })) },
});

/** Asks two questions at once, and returns the answers. */
export const doubter: AgentDefinition = {
  name: "doubter",
  run(task, ctx) {
    if (task.turn === 1) return ctx.askAll({ "interrupt-1": "Which seat?", "interrupt-2": "Which meal?" });
    return ctx.data(task.answers, { name: "answers" });
  },
};
