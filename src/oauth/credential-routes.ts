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
  SendRequest,
} from "../ports/index.ts";
import type { CredentialStore } from "./credential-store.ts";
import { CREDENTIALS_PATH } from "./index.ts";

export interface CredentialRouteParts {
  readonly credentials: CredentialStore;
  readonly authenticator: Authenticator;
  readonly execute: ExecuteOperation;
  readonly catalog: Catalog;
}

/** Endpoints for callers: grant credentials without a browser, list their names, revoke them. */
export function createCredentialRoutes(parts: CredentialRouteParts): readonly Endpoint[] {
  const { credentials, authenticator, execute, catalog } = parts;

  /** A message to the task, outside of any dialect: the permission to send is enough. */
  async function grant(call: EndpointRequest): Promise<EndpointResponse> {
    const principal = await authenticator.authenticate(call);
    const operation = toSend(readBody(await call.body()));
    const scope = authenticator.authorize(principal, operation);
    const answer = await execute(operation, scope, call.signal);
    if (!("kind" in answer) || answer.kind !== "task") throw new Error("a message where a task was expected");
    const { id: taskId, status } = answer.task;
    return json(202, { taskId, state: status.state });
  }

  function toSend({
    agent,
    tenant,
    taskId,
    credentials: granted,
  }: GrantRequest): Operation & { readonly op: "send" } {
    const required = catalog.find(agent)?.card.extensions.map(({ uri }) => uri) ?? [];
    const send: SendRequest = {
      origin: "v1",
      message: { role: "user", parts: [{ kind: "data", data: { credentials: granted } }] },
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

  /** `as`: an operation that the caller must be authorized for. */
  async function ownerOf(call: EndpointRequest, name: AgentName, as: Operation): Promise<CredentialOwner> {
    const scope = authenticator.authorize(await authenticator.authenticate(call), as);
    const visible = catalog.visibleTo(scope);
    const agent = visible.find(name);
    if (!agent) throw agentNotFound(name, visible.all());
    return { scope, agent: agent.name };
  }

  async function list(call: EndpointRequest): Promise<EndpointResponse> {
    const agent = (call.query.get("agent") ?? catalog.defaultAgent) as AgentName;
    const owner = await ownerOf(call, agent, { op: "list", agent, filter: { pageSize: 1 }, view: WHOLE });
    return json(200, { agent: owner.agent, names: await credentials.names(owner, LIMITS.listEntriesMax) });
  }

  async function revoke(call: EndpointRequest): Promise<EndpointResponse> {
    const agent = (call.vars.agent ?? "") as AgentName;
    const as = toSend({ agent, tenant: undefined, taskId: "" as TaskId, credentials: {} });
    await credentials.remove(await ownerOf(call, agent, as), call.vars.name ?? "");
    return json(200, {});
  }

  return [
    { verb: "POST", path: CREDENTIALS_PATH, serve: grant },
    { verb: "GET", path: CREDENTIALS_PATH, serve: list },
    { verb: "DELETE", path: `${CREDENTIALS_PATH}/{agent}/{name}`, serve: revoke },
  ];
}

const WHOLE = { artifacts: true, historyMax: 0 };

const json = (status: number, value: JsonObject): EndpointResponse => ({
  status,
  headers: { "X-Content-Type-Options": "nosniff" },
  text: JSON.stringify(value),
});

interface GrantRequest {
  readonly agent: AgentName | undefined;
  readonly tenant: string | undefined;
  readonly taskId: TaskId;
  readonly credentials: Json;
}

function readBody(text: string): GrantRequest {
  const body = parse(text);
  const { credentials } = body;
  if (credentials === undefined) throw bad("credentials", "must be an object or a string");
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
  if (name === undefined) throw bad(field, "is required");
  return name;
}

function readName(body: JsonObject, field: string): string | undefined {
  const name = body[field];
  if (name === undefined) return undefined;
  if (typeof name === "string" && name !== "" && name.length <= LIMITS.idCharsMax) return name;
  throw bad(field, `must be a string of 1 to ${LIMITS.idCharsMax} characters`);
}

const bad = (field: string, expected: string): Fault =>
  new Fault("invalid-params", `${field} ${expected}`, { field });
