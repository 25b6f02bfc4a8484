import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { type AgentName, agentNotFound, Fault, LIMITS, type TaskId } from "../model/index.ts";
import type {
  Authenticator,
  Catalog,
  CredentialOwner,
  Endpoint,
  EndpointRequest,
  EndpointResponse,
  ExecuteOperation,
  Operation,
  Send,
} from "../ports/index.ts";
import type { Safe } from "./credential-store.ts";
import { CREDENTIALS_PATH } from "./index.ts";

export interface GivenParts {
  readonly safe: Safe;
  readonly guard: Authenticator;
  readonly core: ExecuteOperation;
  readonly catalog: Catalog;
}

/** For callers: to give credentials without a browser, to see which are kept, and to take them back. */
export function createCredentialRoutes(parts: GivenParts): readonly Endpoint[] {
  const { safe, guard, core, catalog } = parts;

  /** A message to the task, in no dialect: whoever may send one may give credentials. */
  async function give(call: EndpointRequest): Promise<EndpointResponse> {
    const principal = await guard.authenticate(call);
    const operation = toSend(readBody(await call.body()));
    const scope = guard.authorize(principal, operation);
    const answer = await core(operation, scope, call.signal);
    if (!("kind" in answer) || answer.kind !== "task") throw new Error("a message where a task was expected");
    const { id: taskId, status } = answer.task;
    return json(202, { taskId, state: status.state });
  }

  function toSend({ agent, tenant, taskId, credentials }: Given): Operation & { readonly op: "send" } {
    const required = catalog.find(agent)?.card.extensions.map(({ uri }) => uri) ?? [];
    const send: Send = {
      origin: "v1",
      message: { role: "user", parts: [{ kind: "data", data: { credentials } }] },
      taskId,
      extensions: required,
    };
    return {
      op: "send",
      agent,
      ...(tenant !== undefined && { tenant }),
      send,
      until: "accepted",
      view: WHOLE,
    };
  }

  /** `as`: an operation that whoever does this must be allowed. */
  async function ownerOf(call: EndpointRequest, name: AgentName, as: Operation): Promise<CredentialOwner> {
    const scope = guard.authorize(await guard.authenticate(call), as);
    const seen = catalog.visibleTo(scope);
    const agent = seen.find(name);
    if (!agent) throw agentNotFound(name, seen.all());
    return { scope, agent: agent.name };
  }

  async function list(call: EndpointRequest): Promise<EndpointResponse> {
    const agent = (call.query.get("agent") ?? catalog.defaultAgent) as AgentName;
    const owner = await ownerOf(call, agent, { op: "list", agent, filter: { pageSize: 1 }, view: WHOLE });
    return json(200, { agent: owner.agent, names: await safe.names(owner, LIMITS.listEntriesMax) });
  }

  async function takeBack(call: EndpointRequest): Promise<EndpointResponse> {
    const agent = (call.vars.agent ?? "") as AgentName;
    const as = toSend({ agent, tenant: undefined, taskId: "" as TaskId, credentials: {} });
    await safe.remove(await ownerOf(call, agent, as), call.vars.name ?? "");
    return json(200, {});
  }

  return [
    { verb: "POST", path: CREDENTIALS_PATH, serve: give },
    { verb: "GET", path: CREDENTIALS_PATH, serve: list },
    { verb: "DELETE", path: `${CREDENTIALS_PATH}/{agent}/{name}`, serve: takeBack },
  ];
}

const WHOLE = { artifacts: true, historyMax: 0 };

const json = (status: number, value: JsonObject): EndpointResponse => ({
  status,
  headers: { "X-Content-Type-Options": "nosniff" },
  text: JSON.stringify(value),
});

interface Given {
  readonly agent: AgentName | undefined;
  readonly tenant: string | undefined;
  readonly taskId: TaskId;
  readonly credentials: Json;
}

function readBody(text: string): Given {
  const body = parse(text);
  const { credentials } = body;
  if (credentials === undefined) throw bad("credentials", "must be an object, or a text");
  return {
    agent: readName(body, "agent") as AgentName | undefined,
    tenant: readName(body, "tenant"),
    taskId: needName(body, "taskId") as TaskId,
    credentials,
  };
}

function parse(text: string): JsonObject {
  let body: Json | undefined;
  try {
    body = JSON.parse(text) as Json;
  } catch {
    throw new Fault("parse", "The body is not JSON");
  }
  if (isObject(body)) return body;
  throw new Fault("invalid-request", "The body must be an object with taskId and credentials");
}

function needName(body: JsonObject, field: string): string {
  const name = readName(body, field);
  if (name === undefined) throw bad(field, "is missing");
  return name;
}

function readName(body: JsonObject, field: string): string | undefined {
  const name = body[field];
  if (name === undefined) return undefined;
  if (typeof name === "string" && name !== "" && name.length <= LIMITS.idCharsMax) return name;
  throw bad(field, `must be a text of 1 to ${LIMITS.idCharsMax} characters`);
}

const bad = (field: string, expected: string): Fault =>
  new Fault("invalid-params", `${field} ${expected}`, { field });
