import type { Json, JsonObject } from "../../lib/json.ts";
import type { Dialect, Route } from "../../ports/index.ts";
import { ENVELOPES, envelopesOf } from "./envelope.ts";
import { OTHERS, PLAIN } from "./others.ts";
import { type Body, HEADERS, type HeaderName, requestsOf, type Saying, sayingOf, varsOf } from "./sayings.ts";
import { either, type Schema, text } from "./schema.ts";
import { V1 } from "./v1.ts";
import { V03 } from "./v03.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface OpenApiParts {
  /** Those that are spoken. */
  readonly dialects: readonly Pick<Dialect, "name" | "routes">[];
  /** Of this server. */
  readonly version: string;
}

/** What is told of each dialect, in this order; one that is not here is told by its routes alone, and last. */
const VOCABULARIES: Readonly<Record<string, Vocabulary>> = { v1: V1, v03: V03, ...OTHERS };
const vocabularyOf = (name: string): Vocabulary => VOCABULARIES[name] ?? { ...PLAIN, title: name };

const ORDER = Object.keys(VOCABULARIES);
const placeOf = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);

/** What answers at one path and verb, and whose route it is. */
interface Shared {
  readonly path: string;
  readonly verb: Route["verb"];
  readonly owners: { readonly name: string; readonly route: Route }[];
}

/** The OpenAPI document of the routes that these dialects have; its `servers` are for the caller's base to tell. */
export function createOpenApi({ version, ...spoken }: OpenApiParts): JsonObject {
  const dialects = spoken.dialects.toSorted((one, other) => placeOf(one.name) - placeOf(other.name));
  const paths: Record<string, Record<string, Json>> = {};
  for (const shared of shareRoutes(dialects)) {
    const path = (paths[shared.path] ??= {});
    path[shared.verb.toLowerCase()] = toOperation(shared);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Dragoman",
      version,
      description:
        "An A2A (Agent2Agent) server: what answers where, in the words of each dialect that is spoken.",
    },
    tags: dialects.map(({ name }) => ({ name, description: vocabularyOf(name).title })),
    paths,
    components: { schemas: toSchemas(dialects) },
  };
}

function shareRoutes(dialects: OpenApiParts["dialects"]): Iterable<Shared> {
  const found = new Map<string, Shared>();
  for (const { name, routes } of dialects)
    for (const route of routes) {
      const { verb, path } = route;
      const shared = found.get(`${verb} ${path}`) ?? { path, verb, owners: [] };
      found.set(`${verb} ${path}`, shared);
      shared.owners.push({ name, route });
    }
  return found.values();
}

const toSchemas = (dialects: OpenApiParts["dialects"]): JsonObject =>
  Object.assign(
    { ...ENVELOPES },
    ...dialects.map(({ name }) => {
      const words = vocabularyOf(name);
      const prefix = prefixOf(name);
      return { ...words.schemas, ...requestsOf(words, prefix), ...envelopesOf(words, prefix) };
    }),
  );

/** `v1` has `V1Task`. */
const prefixOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

function toOperation({ path, verb, owners }: Shared): JsonObject {
  const sayings = owners.map(({ name, route }) => sayingOf(route, vocabularyOf(name), prefixOf(name)));
  const names = owners.map(owner => owner.name);
  const versions = names.flatMap(name => vocabularyOf(name).version ?? []);
  const parameters = [
    ...varsOf(path).map(toVariable),
    ...[...new Set(sayings.flatMap(one => one.headers))].map(name => toHeader(name, versions)),
    ...toQuery(sayings),
  ];
  const body = toBody(sayings.flatMap(one => one.body ?? []));
  return {
    operationId: toOperationId(verb, path),
    tags: names,
    summary: (sayings[0] as Saying).summary,
    ...(names.length > 1 && { description: sharedBy(names) }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: toResponses(sayings),
  };
}

const sharedBy = (names: readonly string[]): string =>
  `Spoken here: ${names.join(", ")}. A2A-Version and the words of the call tell which one it is.`;

/** `POST /tasks/{id}:cancel` is `postTasksIdCancel`. */
const toOperationId = (verb: string, path: string): string =>
  [verb.toLowerCase(), ...(path.match(/[A-Za-z0-9]+/g) ?? ["root"]).map(prefixOf)].join("");

const VARIABLES: Readonly<Record<string, string>> = {
  agent: "The agent's name; GET /agents lists them",
  tenant: "A tenant",
  taskId: "The id of a task",
};

const toVariable = (name: string): JsonObject => ({
  name,
  in: "path",
  required: true,
  description: VARIABLES[name] ?? "An id",
  schema: text,
});

const toHeader = (name: HeaderName, versions: readonly string[]): JsonObject => ({
  name,
  in: "header",
  description: HEADERS[name],
  schema: text,
  ...(name === "A2A-Version" && versions[0] !== undefined && { example: versions[0] }),
});

/** Several dialects may have a parameter of the same name. */
function toQuery(sayings: readonly Saying[]): readonly JsonObject[] {
  const members = sayings.flatMap(({ query }) => Object.entries(query));
  return [...Map.groupBy(members, ([name]) => name)].map(([name, same]) => {
    const { description, ...schema } = either(same.map(([, schema]) => schema));
    return { name, in: "query", ...(description !== undefined && { description }), schema };
  });
}

function toBody(bodies: readonly Body[]): JsonObject | undefined {
  if (bodies.length === 0) return undefined;
  const example = bodies.find(body => body.example !== undefined)?.example;
  const schema = either(bodies.map(body => body.schema));
  return {
    required: bodies.every(body => body.required),
    content: { "application/json": { schema, ...(example !== undefined && { example }) } },
  };
}

function toResponses(sayings: readonly Saying[]): JsonObject {
  const json = sayings.map(one => one.json).filter(schema => schema !== undefined);
  const events = sayings.map(one => one.events).filter(schema => schema !== undefined);
  const content = {
    ...(json.length > 0 && { "application/json": { schema: either(json) } }),
    ...(events.length > 0 && { "text/event-stream": { schema: toStream(either(events)) } }),
  };
  const refusal = { "application/json": { schema: either(sayings.map(one => one.refusal)) } };
  return {
    ...(Object.keys(content).length > 0 && { 200: { description: "The answer", content } }),
    default: { description: "A refusal, with a status of its own", content: refusal },
  };
}

/** OpenAPI 3.1 has no word for the pieces of a stream; JSON Schema has one for what is in a text. */
const toStream = (event: Schema): Schema => ({
  type: "string",
  description: "Server-sent events: the data of each is one of these",
  contentMediaType: "application/json",
  contentSchema: event,
});
