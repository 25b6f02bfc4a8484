import type { Json, JsonObject } from "../../src/lib/json.ts";
import { createDialects } from "../../src/protocol/index.ts";
import type { ProtocolRequest, ProtocolUnderTest } from "../../src/testing/contracts/index.ts";
import { protocolContract } from "../../src/testing/contracts/index.ts";
import { sendParams, sendParamsV03 } from "../support/client.ts";
import { runContract } from "../support/contract.ts";
import { SETTINGS } from "../support/server.ts";
import { stateOf, taskOf, textOf } from "../support/wire.ts";

const findDialect = (name: string) => {
  const found = createDialects(SETTINGS).find(dialect => dialect.name === name);
  if (!found) throw new Error(`no dialect ${name}`);
  return found;
};

interface Words {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly methods: readonly [send: string, stream: string, get: string, cancel: string];
  sendParams(text: string, more: object): object;
}

/** A JSON-RPC dialect of A2A. */
function jsonRpc({ name, headers, methods, sendParams: params }: Words): ProtocolUnderTest {
  const [send, stream, get, cancel] = methods;
  const post = (method: string, value: Json): ProtocolRequest => ({
    method: "POST",
    path: "/agents/tested",
    headers,
    body: { jsonrpc: "2.0", id: 1, method, params: value },
  });
  return {
    dialect: findDialect(name),
    isBuiltIn: true,
    send: (text, taskId) => post(send, params(text, taskId === undefined ? {} : { taskId }) as JsonObject),
    get: id => post(get, { id }),
    cancel: id => post(cancel, { id }),
    stream: text => post(stream, params(text, {}) as JsonObject),
    read: body => ({ id: taskOf(body).id, state: stateOf(body) ?? "", text: textOf(body) }),
    readError: (_status, body) => (body as { error?: { code: number } }).error?.code,
    errorNumber: "rpc",
    bad: { "no method": post("Nothing", {}), "no message": post(send, {}), "no id": post(get, {}) },
  };
}

runContract(
  "A2A 1.0 over JSON-RPC",
  protocolContract(() =>
    jsonRpc({
      name: "v1",
      headers: { "a2a-version": "1.0" },
      methods: ["SendMessage", "SendStreamingMessage", "GetTask", "CancelTask"],
      sendParams,
    }),
  ),
);

runContract(
  "A2A 0.3 over JSON-RPC",
  protocolContract(() =>
    jsonRpc({
      name: "v03",
      headers: {},
      methods: ["message/send", "message/stream", "tasks/get", "tasks/cancel"],
      sendParams: sendParamsV03,
    }),
  ),
);
