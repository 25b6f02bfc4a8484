import type { Json, JsonObject } from "../../lib/json.ts";
import type { Dialect, Route } from "../../ports/index.ts";
import { createFormSchemas, type FormSchemas } from "./components.ts";
import type { ApiDescription, ApiForm } from "./description.ts";
import { anyOf, type JsonSchema, TEXT } from "./json-schema.ts";
import {
  type DescribedDialect,
  describeRoute,
  ENVELOPES,
  envelopesOf,
  HEADERS,
  type HeaderName,
  type RequestBody,
  type RouteDescription,
  variablesOf,
} from "./operation.ts";

export interface OpenApiParts {
  /** The dialects that are on. */
  readonly dialects: readonly Pick<Dialect, "name" | "routes">[];
  /** By dialect, in the order of the document; a dialect without one is described by its routes alone, and last. */
  readonly descriptions: Readonly<Record<string, ApiDescription>>;
  /** Of this server. */
  readonly version: string;
}

/** An OpenAPI document without `servers`: they depend on the base URL of the request. */
export function createOpenApi(parts: OpenApiParts): JsonObject {
  const components: Record<string, JsonSchema> = { ...ENVELOPES };
  const dialects = describeDialects(parts, components);
  const paths: Record<string, Record<string, Json>> = {};
  const ids = new Set<string>();
  for (const [endpoint, owners] of groupByEndpoint(dialects)) {
    const [verb, path] = endpoint.split(" ") as [string, string];
    const operation = toOperation(path, owners);
    (paths[path] ??= {})[verb.toLowerCase()] = { operationId: takeId(ids, verb, path, owners), ...operation };
  }
  for (const dialect of dialects) Object.assign(components, envelopesOf(dialect));
  return {
    openapi: "3.1.1",
    info: {
      title: "Dragoman",
      version: parts.version,
      description: "An A2A (Agent2Agent) server: the routes and messages of each dialect that it serves.",
    },
    tags: dialects.map(({ name, api }) => ({ name, description: api.title })),
    paths,
    components: { schemas: components },
  };
}

function describeDialects(
  { dialects, descriptions }: OpenApiParts,
  components: Record<string, JsonSchema>,
): readonly DescribedDialect[] {
  const order = Object.keys(descriptions);
  const indexOf = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  const known = new Map<ApiForm, FormSchemas>();
  const schemasOf = (form: ApiForm): FormSchemas => {
    const schemas = known.get(form) ?? createFormSchemas(form, components);
    known.set(form, schemas);
    return schemas;
  };
  return dialects
    .toSorted((one, other) => indexOf(one.name) - indexOf(other.name))
    .map(({ name, routes }) => {
      const api = descriptions[name] ?? { title: name };
      const rest = (api.rest ?? []).map(schemasOf);
      return { name, routes, api, rest, jsonRpc: api.jsonRpc && schemasOf(api.jsonRpc) };
    });
}

interface Owner {
  readonly dialect: DescribedDialect;
  readonly route: Route;
}

function groupByEndpoint(dialects: readonly DescribedDialect[]): ReadonlyMap<string, readonly Owner[]> {
  const owners = dialects.flatMap(dialect => dialect.routes.map((route): Owner => ({ dialect, route })));
  return Map.groupBy(owners, ({ route }) => `${route.verb} ${route.path}`);
}

function toOperation(path: string, owners: readonly Owner[]): JsonObject {
  const descriptions = owners.flatMap(({ dialect, route }) => describeRoute(route, dialect));
  const names = owners.map(({ dialect }) => dialect.name);
  const version = owners.map(({ dialect }) => dialect.api.version).find(one => one !== undefined);
  const parameters = [
    ...variablesOf(path).map(toPathParameter),
    ...[...new Set(descriptions.flatMap(one => one.headers))].map(name => toHeader(name, version)),
    ...toQueryParameters(descriptions),
  ];
  const body = toRequestBody(descriptions.flatMap(one => one.body ?? []));
  return {
    tags: names,
    summary: (descriptions[0] as RouteDescription).summary,
    ...(names.length > 1 && {
      description: `Dialects at this route: ${names.join(", ")}. A2A-Version and the form of the request select one.`,
    }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: toResponses(descriptions),
  };
}

/**
 * Generated clients make names of functions and files from it. `POST /agents/{agent}/tasks/{id}:cancel` is `cancelTaskOfAgent`,
 * or `v03CancelTaskOfAgent` if that is taken; other routes are named by their path: `GET /agents` is `getAgents`.
 */
function takeId(taken: Set<string>, verb: string, path: string, [first]: readonly Owner[]): string {
  const byPath = toCamel([verb.toLowerCase(), ...wordsOf(path === "/" ? "root" : path)]);
  const { route, dialect } = first as Owner;
  const place = variablesOf(path).flatMap(name => PLACES[name] ?? []);
  const method = [...wordsOf(route.method), ...place];
  const names = route.transport === "rest" ? [toCamel(method), toCamel([dialect.name, ...method])] : [];
  const id = [...names, byPath].find(one => one !== "" && !taken.has(one)) ?? byPath;
  taken.add(id);
  return id;
}

const PLACES: Readonly<Record<string, string>> = { agent: "ofAgent", tenant: "ofTenant" };

const wordsOf = (text: string): readonly string[] => text.match(/[A-Za-z0-9]+/g) ?? [];
const toCamel = ([first = "", ...others]: readonly string[]): string =>
  [first.charAt(0).toLowerCase() + first.slice(1), ...others.map(capitalize)].join("");

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  agent: "The name of the agent; GET /agents lists them",
  tenant: "The tenant",
  taskId: "The id of the task",
};

const toPathParameter = (name: string): JsonObject => ({
  name,
  in: "path",
  required: true,
  description: PATH_PARAMETERS[name] ?? "The id",
  schema: TEXT,
});

const toHeader = (name: HeaderName, version: string | undefined): JsonObject => ({
  name,
  in: "header",
  ...(name === "Accept" && { required: true }),
  description: HEADERS[name],
  schema: TEXT,
  ...(name === "A2A-Version" && version !== undefined && { example: version }),
});

/** Several dialects may have a parameter of the same name. */
function toQueryParameters(descriptions: readonly RouteDescription[]): readonly JsonObject[] {
  const properties = descriptions.flatMap(({ query }) => Object.entries(query));
  return [...Map.groupBy(properties, ([name]) => name)].map(([name, same]) => {
    const { description, ...schema } = anyOf(same.map(([, schema]) => schema));
    return { name, in: "query", ...(description !== undefined && { description }), schema };
  });
}

function toRequestBody(bodies: readonly RequestBody[]): JsonObject | undefined {
  if (bodies.length === 0) return undefined;
  const example = bodies.find(body => body.example !== undefined)?.example;
  const schema = anyOf(bodies.map(body => body.schema));
  return {
    required: bodies.every(body => body.required),
    content: { "application/json": { schema, ...(example !== undefined && { example }) } },
  };
}

function toResponses(descriptions: readonly RouteDescription[]): JsonObject {
  const json = descriptions.map(one => one.json).filter(schema => schema !== undefined);
  const events = descriptions.map(one => one.events).filter(schema => schema !== undefined);
  const content = {
    ...(json.length > 0 && { "application/json": { schema: anyOf(json) } }),
    ...(events.length > 0 && { "text/event-stream": { schema: toStream(anyOf(events)) } }),
  };
  const error = { "application/json": { schema: anyOf(descriptions.map(one => one.error)) } };
  return {
    ...(Object.keys(content).length > 0 && { 200: { description: "Success", content } }),
    default: { description: "An error; the status tells which", content: error },
  };
}

/** OpenAPI 3.1 cannot describe the events of a stream; JSON Schema describes the JSON inside a string. */
const toStream = (event: JsonSchema): JsonSchema => ({
  type: "string",
  description: "Server-sent events; the data of each matches contentSchema",
  contentMediaType: "application/json",
  contentSchema: event,
});
