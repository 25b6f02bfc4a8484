import type { Json } from "../../lib/json.ts";
import type { Route } from "../../ports/index.ts";
import type { ApiMethod, FormSchemas } from "./components.ts";
import type { ApiDescription } from "./description.ts";
import {
  anyOf,
  constant,
  type JsonSchema,
  OBJECT,
  object,
  type Properties,
  ref,
  TEXT,
} from "./json-schema.ts";

/** A dialect with its description and the JSON Schemas of its forms. */
export interface DescribedDialect {
  readonly name: string;
  readonly routes: readonly Route[];
  readonly api: ApiDescription;
  readonly rest: readonly FormSchemas[];
  readonly jsonRpc: FormSchemas | undefined;
}

/** One dialect at one route; an operation of the document merges those of all dialects that share the route. */
export interface RouteDescription {
  readonly summary: string;
  readonly query: Properties;
  readonly headers: readonly HeaderName[];
  readonly body?: RequestBody | undefined;
  /** A complete response, and an event of a stream. */
  readonly json?: JsonSchema | undefined;
  readonly events?: JsonSchema | undefined;
  readonly error: JsonSchema;
}

export interface RequestBody {
  readonly schema: JsonSchema;
  readonly required: boolean;
  readonly example?: Json | undefined;
}

export const HEADERS = {
  Accept: "text/event-stream for methods that stream, application/json for the others",
  "A2A-Version": "The protocol version of the caller",
  "A2A-Extensions": "URIs of the extensions that the caller requests, separated by commas",
  "Idempotency-Key": "A repeated request with the same key is executed once",
  "Last-Event-ID": "Resume after the event with this id",
} as const;
export type HeaderName = keyof typeof HEADERS;

export const variablesOf = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(found => found[1] as string);

export function describeRoute(route: Route, dialect: DescribedDialect): readonly RouteDescription[] {
  switch (route.transport) {
    case "rest":
      return describeRest(route, dialect);
    case "jsonrpc":
      return [describeJsonRpc(route, dialect)];
    case "document":
      return [describeDocument(route, dialect)];
  }
}

const errorOf = ({ api, rest }: DescribedDialect): JsonSchema =>
  (api.error !== undefined && rest[0]?.schemaOf(api.error)) || OBJECT;

function describeRest(route: Route, dialect: DescribedDialect): readonly RouteDescription[] {
  const error = errorOf(dialect);
  const methods = dialect.rest.flatMap(form => form.methods.get(route.method) ?? []);
  if (methods.length === 0) return [describeUntyped(route, dialect.api, error)];
  // A field that one of the method's paths has is in no query and no body.
  const inPath = dialect.routes
    .filter(({ transport, method }) => transport === "rest" && method === route.method)
    .flatMap(({ path }) => variablesOf(path));
  return methods.map(method => {
    const required = without(method.required, inPath);
    const optional = without(method.optional, inPath);
    return {
      summary: method.summary,
      query: route.verb === "GET" ? { ...required, ...optional } : {},
      headers: headersOf(method),
      body: route.verb === "POST" ? toBody(method, required, optional) : undefined,
      json: method.streams ? undefined : method.responseSchema,
      events: method.streams ? method.responseSchema : undefined,
      error,
    };
  });
}

/** A route whose messages are documented elsewhere. */
function describeUntyped(route: Route, { summaries }: ApiDescription, error: JsonSchema): RouteDescription {
  const summary = summaries?.[route.method];
  const body =
    route.verb === "POST" && summary !== undefined ? { schema: OBJECT, required: false } : undefined;
  const headers: readonly HeaderName[] =
    summary === undefined ? ["A2A-Version"] : body ? ["Idempotency-Key", "Last-Event-ID"] : [];
  return { summary: summary ?? route.method, query: {}, headers, body, json: OBJECT, error };
}

const headersOf = ({ requestSchema, streams }: ApiMethod): readonly HeaderName[] => [
  "A2A-Version",
  ...(requestSchema ? (["A2A-Extensions", "Idempotency-Key"] as const) : []),
  ...(streams ? (["Last-Event-ID"] as const) : []),
];

function toBody(method: ApiMethod, required: Properties, optional: Properties): RequestBody | undefined {
  if (Object.keys({ ...required, ...optional }).length === 0) return undefined;
  return {
    schema: method.requestSchema ?? object(required, optional),
    required: Object.keys(required).length > 0,
    example: method.example,
  };
}

const without = (properties: Properties, names: readonly string[]): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)));

function describeJsonRpc(route: Route, { api, jsonRpc }: DescribedDialect): RouteDescription {
  const prefix = api.jsonRpc?.prefix ?? "JsonRpc";
  const reply = ref(`${prefix}Reply`);
  const [first] = jsonRpc?.methods.values() ?? [];
  const example =
    first?.example === undefined
      ? undefined
      : { jsonrpc: "2.0", id: 1, method: first.name, params: first.example };
  return {
    summary: `JSON-RPC 2.0 calls to ${agentOf(route, api)}`,
    query: {},
    headers: [...(api.accept ? ACCEPT : VERSIONED), "A2A-Extensions", "Idempotency-Key", "Last-Event-ID"],
    body: { schema: ref(`${prefix}Call`), required: true, example },
    json: reply,
    events: reply,
    error: ref("JsonRpcReply"),
  };
}

const VERSIONED = ["A2A-Version"] as const;
const ACCEPT = ["Accept"] as const;

const agentOf = (route: Route, api: ApiDescription): string =>
  route.path.includes("{agent}") ? "an agent" : (api.unnamedAgent ?? "the default agent");

function describeDocument(route: Route, dialect: DescribedDialect): RouteDescription {
  const { api, jsonRpc } = dialect;
  const type = api.documents?.[route.method];
  const isList = route.method === "agents";
  return {
    summary:
      api.summaries?.[route.method] ??
      (isList ? "The agents of this server, with their URLs" : `The card of ${agentOf(route, api)}`),
    query: variablesOf(route.path).length === 0 ? (api.documentQuery ?? {}) : {},
    headers: api.accept ? [] : VERSIONED,
    json: (type !== undefined && jsonRpc?.schemaOf(type)) || OBJECT,
    error: errorOf(dialect),
  };
}

// ---- JSON-RPC envelopes ----------------------------------------------------------------------------------------

const ID: JsonSchema = { type: ["string", "number", "null"] };
const VERSION = { jsonrpc: constant("2.0") };
const ERROR = object({ code: { type: "integer" }, message: TEXT }, { data: {} });

const replyWith = (result: JsonSchema): JsonSchema => ({
  oneOf: [object({ ...VERSION, id: ID, result }), object({ ...VERSION, id: ID, error: ERROR })],
});

export const ENVELOPES: Properties = {
  JsonRpcCall: object({ ...VERSION, method: TEXT }, { id: ID, params: OBJECT }),
  JsonRpcReply: replyWith({}),
};

/** The envelopes of a dialect: a call for each method. */
export function envelopesOf({ api, jsonRpc }: DescribedDialect): Properties {
  if (!api.jsonRpc || !jsonRpc) return {};
  const methods = [...jsonRpc.methods.values()];
  const calls = methods.map(({ name, summary, required, optional }): JsonSchema => {
    const params = { params: object(required, optional) };
    const method = { ...VERSION, method: constant(name) };
    const envelope =
      Object.keys(required).length > 0
        ? object({ ...method, ...params }, { id: ID })
        : object(method, { id: ID, ...params });
    return { title: name, description: summary, ...envelope };
  });
  return {
    [`${api.jsonRpc.prefix}Call`]: { oneOf: calls },
    [`${api.jsonRpc.prefix}Reply`]: replyWith(anyOf(methods.map(method => method.responseSchema))),
  };
}
