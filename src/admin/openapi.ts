/** The OpenAPI document of the admin API, from its routes. */
import type { JsonObject } from "../lib/json.ts";
import type { AdminRoute } from "./access.ts";
import { ADMIN_API_PATH } from "./api.ts";
import { reply } from "./parameters.ts";
import { schemaOf } from "./route-schemas.ts";

const PERMISSIONS: Readonly<Record<AdminRoute["needs"], string>> = {
  read: "console:read",
  act: "console:act",
  operator: "admin",
  "operator-act": "admin and console:act",
};

const ERROR = {
  description: "A fault",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Fault" } } },
};

function toOperation({ path, needs, summary, verb }: AdminRoute): JsonObject {
  const { response, body, type = "application/json" } = schemaOf(verb, path);
  return {
    summary,
    description: `Requires the permission ${PERMISSIONS[needs]}.`,
    operationId: `${verb.toLowerCase()}${path.replace(/[^a-zA-Z]+(.)?/g, (_, next = "") => String(next).toUpperCase())}`,
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => toParameter(name, "path")),
      ...(QUERY[path] ?? []).map(name => toParameter(name, "query")),
    ],
    ...(body && {
      requestBody: { required: true, content: { "application/json": { schema: body.json } } },
    }),
    responses: {
      [path === "/tokens" && verb === "POST" ? "201" : "200"]: {
        description: "OK",
        content: { [type]: { schema: response.json } },
      },
      default: ERROR,
    },
  };
}

const namedSchemas = (routes: readonly AdminRoute[]): JsonObject =>
  Object.assign({}, ...routes.map(({ verb, path }) => schemaOf(verb, path).response.named)) as JsonObject;

const PAGE = ["pageSize", "pageToken"];
const FILTERS = [
  "agent",
  "state",
  "caller",
  "tenant",
  "contextId",
  "from",
  "to",
  "text",
  "crashed",
  "replies",
];
const QUERY: Readonly<Record<string, readonly string[]>> = {
  "/tasks": [...FILTERS, ...PAGE],
  "/tasks/changes": FILTERS,
  "/tasks/counts": ["agent", "caller", "tenant"],
  "/tasks/{id}/events": ["after", "max"],
  "/tasks/{id}/events/stream": ["after"],
  "/tasks/{id}/frames": ["after", "max", "dialect"],
  "/tasks/{id}/curl": ["after"],
  "/contexts": ["agent", "caller", "tenant", "text", ...PAGE],
  "/contexts/{contextId}": ["agent", "caller", "tenant", ...PAGE],
  "/inbox": ["agent", "kind", "tenant", "caller", ...PAGE],
  "/deliveries": ["state", "host", "agent", "tenant", "caller", "task", ...PAGE],
  "/server/figures": ["range"],
  "/logs": ["level", "max"],
  "/tokens": PAGE,
};
const LISTS: ReadonlySet<string> = new Set(["agent", "state", "dialect"]);
const NUMBERS: ReadonlySet<string> = new Set(["after", "max", "pageSize"]);

function toParameter(name: string, place: "path" | "query"): JsonObject {
  const one = NUMBERS.has(name) ? { type: "integer" } : { type: "string" };
  const isList = place === "query" && LISTS.has(name);
  return {
    name,
    in: place,
    required: place === "path",
    schema: isList ? { type: "array", items: one } : one,
  };
}

const FAULT_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: { code: { type: "integer" }, status: { type: "string" }, message: { type: "string" } },
    },
  },
};

export function createAdminOpenApi(routes: readonly AdminRoute[], version: string): JsonObject {
  const byPath = Map.groupBy(routes, route => `${ADMIN_API_PATH}${route.path}`);
  return {
    openapi: "3.1.0",
    info: { title: "Dragoman admin API", version },
    paths: Object.fromEntries(
      [...byPath].map(([path, some]) => [
        path,
        Object.fromEntries(some.map(route => [route.verb.toLowerCase(), toOperation(route)])),
      ]),
    ),
    components: {
      schemas: { Fault: FAULT_SCHEMA, ...namedSchemas(routes) },
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
    security: [{}, { bearer: [] }],
  };
}

export const createOpenApiRoute = (document: () => JsonObject): AdminRoute => ({
  verb: "GET",
  path: "/openapi.json",
  needs: "read",
  summary: "This description",
  serve: ({ base }) => reply({ ...document(), servers: [{ url: base() }] }),
});
