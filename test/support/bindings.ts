/**
 * The nine bindings of the official protocol behind one interface: an operation in, its neutral meaning out.
 */
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { expect } from "vitest";
import type { Json } from "../../src/lib/json.ts";
import { FAULTS, type FaultCode } from "../../src/model/index.ts";
import type { FaultTable } from "../../src/ports/index.ts";
import { V1_SCHEMA } from "../../src/protocol/a2a-v1/schema.ts";
import { V03_SCHEMA } from "../../src/protocol/a2a-v03/schema.ts";
import { V11_SCHEMA } from "../../src/protocol/a2a-v11/schema.ts";
import { createDialects } from "../../src/protocol/index.ts";
import { createCodecs } from "../../src/protocol/protobuf/codec.ts";
import type { ProtobufSchema } from "../../src/protocol/protobuf/schema.ts";
import type { Loose } from "./official-dialects.ts";
import { SETTINGS } from "./server.ts";

/** The operation, by the names of v1; parameters in the form of v1, too. */
export type Method =
  | "SendMessage"
  | "SendStreamingMessage"
  | "GetTask"
  | "ListTasks"
  | "CancelTask"
  | "SubscribeToTask"
  | "CreateTaskPushNotificationConfig"
  | "GetTaskPushNotificationConfig"
  | "ListTaskPushNotificationConfigs"
  | "DeleteTaskPushNotificationConfig"
  | "GetExtendedAgentCard";

export interface Binding {
  readonly name: string;
  readonly version: "1.1" | "1.0" | "0.3";
  /**
   * One response, or all events of a stream; a refusal is one of our codes, found by the binding's own codes.
   */
  call(method: Method, params: Loose, headers?: Record<string, string>): Promise<Meaning>;
  close(): void;
}

/** The meaning of a response in any binding. */
export type Meaning = { readonly answered: readonly string[] } | { readonly refused: readonly FaultCode[] };

const dialects = createDialects({ ...SETTINGS, v11: "on" });
const faultsOf = (name: string): FaultTable => dialects.find(one => one.name === name)?.faults as FaultTable;
const DIALECT_NAMES = { "1.1": "v11", "1.0": "v1", "0.3": "v03" };
const CODES = Object.keys(FAULTS) as FaultCode[];
const refused = (is: (code: FaultCode) => boolean): Meaning => ({ refused: CODES.filter(is) });

/** One line for each object: its kind, its state, its text. */
export function meaningOf(value: Loose): string {
  const configs = configsIn(value);
  if (configs) return `configs ${configs.map(meaningOfConfig).join("; ")}`.trim();
  if (value === null || Object.keys(value).length === 0) return "nothing";
  if (isConfig(value)) return `config ${meaningOfConfig(value)}`;
  const inner =
    value.task ?? value.message ?? value.msg ?? value.statusUpdate ?? value.artifactUpdate ?? value;
  if (inner.tasks)
    return `page of ${inner.tasks.length} of ${inner.totalSize}: ${inner.tasks.map(meaningOf).join("; ")}`;
  if (inner.artifact) return `artifact ${inner.append === true ? "+" : ""}"${textOf(inner.artifact)}"`;
  if (inner.role !== undefined) return `message "${textOf(inner)}"`;
  const status = `${stateOf(inner.status.state)}${inner.status.message ? ` "${textOf(inner.status.message)}"` : ""}`;
  if (inner.id === undefined) return `status ${status}`;
  const artifacts = (inner.artifacts ?? []).map((one: Loose) => `"${textOf(one)}"`).join(", ");
  const history = (inner.history ?? []).map((one: Loose) => textOf(one)).join(", ");
  return `task ${status} [${artifacts}] (${history})`;
}

/** A list of configs may be a bare array. */
const configsIn = (value: Loose): readonly Loose[] | undefined =>
  Array.isArray(value) ? value : value?.configs;

const isConfig = (value: Loose): boolean =>
  value.url !== undefined || value.pushNotificationConfig !== undefined;

/** Its id, its URL, and its visible members; it must name its task, too. */
function meaningOfConfig(value: Loose): string {
  const { id, url, token, authentication } = value.pushNotificationConfig ?? value;
  const named = /^tasks\/.+\/pushNotificationConfigs\/(.+)$/.exec(value.name ?? "")?.[1];
  if (value.taskId === undefined && named !== id) throw new Error("a config without its task");
  const scheme = authentication?.scheme ?? authentication?.schemes?.[0];
  return [id, url, token, scheme, authentication?.credentials].filter(Boolean).join(" ");
}

const textOf = (holder: Loose): string =>
  (holder.parts ?? holder.content ?? []).map((part: Loose) => part.text ?? JSON.stringify(part)).join("");
const stateOf = (state: string): string =>
  state.replace("TASK_STATE_", "").toLowerCase().replace("cancelled", "canceled").replaceAll("_", "-");

/** The body, or the events of a stream. */
async function readAll(reply: Response): Promise<readonly Loose[]> {
  const text = await reply.text();
  if (!reply.headers.get("content-type")?.startsWith("text/event-stream")) return [JSON.parse(text)];
  const data = text.split("\n").filter(line => line.startsWith("data: "));
  return data.map(line => JSON.parse(line.slice(6)));
}

// ---- JSON-RPC ------------------------------------------------------------------------------------------------

const V03_METHODS: Readonly<Record<Method, string>> = {
  SendMessage: "message/send",
  SendStreamingMessage: "message/stream",
  GetTask: "tasks/get",
  ListTasks: "tasks/list",
  CancelTask: "tasks/cancel",
  SubscribeToTask: "tasks/resubscribe",
  CreateTaskPushNotificationConfig: "tasks/pushNotificationConfig/set",
  GetTaskPushNotificationConfig: "tasks/pushNotificationConfig/get",
  ListTaskPushNotificationConfigs: "tasks/pushNotificationConfig/list",
  DeleteTaskPushNotificationConfig: "tasks/pushNotificationConfig/delete",
  GetExtendedAgentCard: "agent/getAuthenticatedExtendedCard",
};

/** The form of a config in all versions before 1.0, with lists of schemes. */
function toConfig({ authentication, ...config }: Loose): Loose {
  const { scheme, credentials } = authentication ?? {};
  return authentication ? { ...config, authentication: { schemes: [scheme], credentials } } : config;
}

function toV03Push(method: Method, { taskId, id, ...config }: Loose): Loose {
  if (method === "CreateTaskPushNotificationConfig")
    return { taskId, pushNotificationConfig: toConfig({ id, ...config }) };
  return method === "ListTaskPushNotificationConfigs"
    ? { id: taskId }
    : { id: taskId, pushNotificationConfigId: id };
}

function toV03(method: Method, { message, configuration, ...rest }: Loose): Loose {
  if (rest.taskId !== undefined) return toV03Push(method, rest);
  if (!message) return rest;
  const { returnImmediately, taskPushNotificationConfig: push, ...others } = configuration ?? {};
  return {
    ...rest,
    message: {
      ...message,
      role: message.role === "ROLE_USER" ? "user" : message.role,
      parts: message.parts.map((part: Loose) =>
        part.url === undefined
          ? { kind: "text", ...part }
          : { kind: "file", file: { uri: part.url, mimeType: part.mediaType } },
      ),
    },
    configuration: {
      ...others,
      blocking: returnImmediately !== true,
      ...(push && { pushNotificationConfig: toConfig(push) }),
    },
  };
}

function overRpc(url: string, version: Binding["version"]): Binding {
  const isV1 = version !== "0.3";
  const faults = faultsOf(DIALECT_NAMES[version]);
  return {
    name: `${version} JSON-RPC`,
    version,
    async call(method, params, headers = {}) {
      const called = isV1
        ? { method, params }
        : { method: V03_METHODS[method], params: toV03(method, params) };
      const all = { "a2a-version": version, "content-type": "application/json", ...headers };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...called });
      return toMeaning(await readAll(await fetch(url, { method: "POST", headers: all, body })));
    },
    close: () => {},
  };
  function toMeaning(replies: readonly Loose[]): Meaning {
    const error = replies.find(reply => reply.error)?.error;
    if (error) return refused(code => faults[code].rpc === error.code);
    return { answered: replies.map(reply => meaningOf(reply.result)) };
  }
}

// ---- HTTP+JSON -----------------------------------------------------------------------------------------------

type Route = readonly [verb: string, path: string];
const ROUTES: Readonly<Record<Method, (params: Loose) => Route>> = {
  SendMessage: () => ["POST", "/message:send"],
  SendStreamingMessage: () => ["POST", "/message:stream"],
  GetTask: ({ id, ...query }) => ["GET", `/tasks/${id}?${new URLSearchParams(query)}`],
  ListTasks: query => ["GET", `/tasks?${new URLSearchParams(query)}`],
  CancelTask: ({ id }) => ["POST", `/tasks/${id}:cancel`],
  SubscribeToTask: ({ id }) => ["GET", `/tasks/${id}:subscribe`],
  CreateTaskPushNotificationConfig: ({ taskId }) => ["POST", `/tasks/${taskId}/pushNotificationConfigs`],
  GetTaskPushNotificationConfig: ({ taskId, id }) => [
    "GET",
    `/tasks/${taskId}/pushNotificationConfigs/${id}`,
  ],
  ListTaskPushNotificationConfigs: ({ taskId }) => ["GET", `/tasks/${taskId}/pushNotificationConfigs`],
  DeleteTaskPushNotificationConfig: ({ taskId, id }) => [
    "DELETE",
    `/tasks/${taskId}/pushNotificationConfigs/${id}`,
  ],
  GetExtendedAgentCard: () => ["GET", "/extendedAgentCard"],
};

/** The v0.3 protobuf definition: its names for content and blocking, and its configs. */
function toProto({ message, configuration, ...rest }: Loose): Loose {
  const { taskId: _, ...config } = rest;
  if (config.url !== undefined) return { pushNotificationConfig: toConfig(config) };
  if (!message) return rest;
  const { parts, ...others } = message;
  const { returnImmediately, taskPushNotificationConfig: push, ...more } = configuration ?? {};
  const content = parts.map((part: Loose) =>
    part.url === undefined ? part : { file: { fileWithUri: part.url, mimeType: part.mediaType } },
  );
  return {
    ...rest,
    message: { ...others, content },
    configuration: {
      ...more,
      blocking: returnImmediately !== true,
      ...(push && { pushNotification: toConfig(push) }),
    },
  };
}

function overRest(url: string, version: Binding["version"]): Binding {
  const isV1 = version !== "0.3";
  const faults = faultsOf(DIALECT_NAMES[version]);
  return {
    name: `${version} HTTP+JSON`,
    version,
    async call(method, params, headers = {}) {
      const [verb, path] = ROUTES[method](params);
      const target = isV1 ? path : `/v1${method === "GetExtendedAgentCard" ? "/card" : path}`;
      const body = verb === "POST" ? JSON.stringify(isV1 ? params : toProto(params)) : null;
      const all = { "a2a-version": version, "content-type": "application/json", ...headers };
      const reply = await fetch(url + target, { method: verb, headers: all, body });
      const value = await readAll(reply);
      return reply.ok ? { answered: value.map(meaningOf) } : toRefusal(reply.status, value[0]);
    },
    close: () => {},
  };
  /** v1 has the reason, v0.3 the code; both have the status. */
  function toRefusal(status: number, body: Loose): Meaning {
    if (!isV1) return refused(code => faults[code].rpc === body.code && faults[code].http === status);
    const { code: same, status: grpc } = body.error;
    return refused(code => faults[code].http === status && same === status && faults[code].grpc === grpc);
  }
}

// ---- gRPC ----------------------------------------------------------------------------------------------------

const V03_RPCS: Partial<Record<Method, string>> = {
  SubscribeToTask: "TaskSubscription",
  ListTaskPushNotificationConfigs: "ListTaskPushNotificationConfig",
  GetExtendedAgentCard: "GetAgentCard",
};

/** The v0.3 protobuf definition has resource names instead of ids. */
function toNames(method: Method, { id, taskId, ...rest }: Loose): Loose {
  if (taskId !== undefined) {
    const parent = `tasks/${taskId}`;
    if (method.startsWith("List")) return { parent };
    if (method.startsWith("Create")) return { parent, configId: id, config: toProto({ id, ...rest }) };
    return { name: `${parent}/pushNotificationConfigs/${id}` };
  }
  return id === undefined ? toProto(rest) : { ...rest, name: `tasks/${id}` };
}

const SCHEMAS = { "1.1": V11_SCHEMA, "1.0": V1_SCHEMA, "0.3": V03_SCHEMA };

const STATUSES = [
  ..."OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED".split(
    " ",
  ),
  ..."RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE".split(
    " ",
  ),
  "DATA_LOSS",
  "UNAUTHENTICATED",
];

function overGrpc(url: string, version: Binding["version"], agent: string): Binding {
  const isV1 = version !== "0.3";
  const faults = faultsOf(DIALECT_NAMES[version]);
  const schema: ProtobufSchema = SCHEMAS[version];
  const codecs = createCodecs(schema);
  const client = new Client(new URL(url).host, credentials.createInsecure());

  return {
    name: `${version} gRPC`,
    version,
    async call(method, params, headers = {}) {
      const rpcName = (isV1 ? undefined : V03_RPCS[method]) ?? method;
      const spec = schema.rpcs[rpcName];
      if (spec === undefined) return refused(code => code === "method-not-found");
      const [takes = "", gives = ""] = spec.replace("stream ", "").split(": ");
      const request = codecs(takes).encode((isV1 ? params : toNames(method, params)) as Json);
      const metadata = new Metadata();
      for (const [name, value] of Object.entries({ "a2a-agent": agent, "a2a-version": version, ...headers }))
        metadata.set(name, value);
      const path = `/${schema.package}.${schema.service}/${rpcName}`;
      const asIs = (bytes: Buffer): Buffer => bytes;
      const call = client.makeServerStreamRequest(path, asIs, asIs, request, metadata);
      try {
        const replies = await Array.fromAsync(call as AsyncIterable<Buffer>);
        return { answered: replies.map(bytes => meaningOf(codecs(gives).decode(bytes))) };
      } catch (error) {
        const { code: status } = error as ServiceError;
        return refused(code => faults[code].grpc === STATUSES[status]);
      }
    },
    close: () => client.close(),
  };
}

const VERSIONS = ["1.1", "1.0", "0.3"] as const;

export const BINDINGS = VERSIONS.flatMap(version =>
  ["JSON-RPC", "HTTP+JSON", "gRPC"].map(transport => `${version} ${transport}`),
);

/** Several faults may share a code: the expected one must be among them. */
export function expectMeaning(meaning: Meaning, wanted: readonly string[] | FaultCode): void {
  if (typeof wanted !== "string") expect(meaning).toEqual({ answered: wanted });
  else expect(meaning).toMatchObject({ refused: expect.arrayContaining([wanted]) });
}

/** All bindings for one agent of a server. */
export const bindingsOf = (url: string, agent: string): readonly Binding[] =>
  VERSIONS.flatMap(version => [
    overRpc(`${url}/agents/${agent}`, version),
    overRest(`${url}/agents/${agent}`, version),
    overGrpc(url, version, agent),
  ]);
