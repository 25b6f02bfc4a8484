/** The bodies of requests and responses, by route. */
import type { TokenInfo } from "./api-server.ts";
import {
  type AnySchema,
  anyJson,
  anyObject,
  choice,
  type FieldSchema,
  integer,
  list,
  object,
  text,
} from "./schema.ts";

import {
  agentRow,
  cardForm,
  docPage,
  figuresPage,
  limitRow,
  logPage,
  me,
  optionRow,
  serverInfo,
  tokenInfo,
} from "./server-schemas.ts";
import {
  contextDetail,
  contextPage,
  curlCommand,
  deliveryPage,
  dialectView,
  eventPage,
  eventRow,
  framePage,
  inboxPage,
  taskCounts,
  taskDetail,
  taskPage,
  taskRow,
} from "./task-schemas.ts";

export interface RouteSchema {
  readonly response: AnySchema;
  readonly body?: AnySchema;
  /** Of the response; the default is application/json. */
  readonly type?: string;
}

const answers = (response: AnySchema): RouteSchema => ({ response });
const streams = (description: string, ...contents: readonly AnySchema[]): RouteSchema => ({
  response: {
    json: { type: "string", contentMediaType: "text/event-stream", description },
    named: Object.assign({}, ...contents.map(({ named }) => named)) as AnySchema["named"],
  },
  type: "text/event-stream",
});

const token = object<{ secret: string; token: TokenInfo }>({ secret: text, token: tokenInfo });
const newToken = object<{
  principal: string;
  tenants?: readonly string[];
  permissions?: readonly string[];
  agents?: readonly string[];
  name?: string;
  expiresInSeconds?: number;
}>(
  {
    principal: text,
    tenants: list(text),
    permissions: list(text),
    agents: list(text),
    name: text,
    expiresInSeconds: integer,
  },
  "tenants",
  "permissions",
  "agents",
  "name",
  "expiresInSeconds",
);
const redelivery = object<{ taskId: string; configId?: string; from?: "cursor" | "start" }>(
  { taskId: text, configId: text, from: choice(["cursor", "start"]) },
  "configId",
  "from",
);

/** `{ name: [...] }` */
const listOf = <T>(name: string, of: FieldSchema<T>): RouteSchema =>
  answers(object<Record<string, readonly T[]>>({ [name]: list(of) }));

/** By verb and path. */
export const ROUTE_SCHEMAS: Readonly<Record<string, RouteSchema>> = {
  "GET /me": answers(me),
  "GET /agents": listOf("agents", agentRow),
  "GET /agents/{agent}": answers(agentRow),
  "GET /agents/{agent}/cards": listOf("cards", cardForm),
  "GET /tasks": answers(taskPage),
  "GET /tasks/counts": answers(taskCounts),
  "GET /tasks/changes": streams(
    "event: ready once; event: task with a TaskRow for each change; event: gone with {id}; event: reload: read the list again; event: end with {reason}",
    taskRow,
  ),
  "GET /tasks/{id}": answers(taskDetail),
  "GET /tasks/{id}/events": answers(eventPage),
  "GET /tasks/{id}/events/stream": streams(
    "An EventRow in each event, with its sequence number as id; event: end with {reason}",
    eventRow,
  ),
  "GET /tasks/{id}/dialects": listOf("dialects", dialectView),
  "GET /tasks/{id}/frames": answers(framePage),
  "GET /tasks/{id}/curl": listOf("commands", curlCommand),
  "GET /tasks/{id}/logs": answers(logPage),
  "GET /contexts": answers(contextPage),
  "GET /contexts/{contextId}": answers(contextDetail),
  "GET /inbox": answers(inboxPage),
  "GET /deliveries": answers(deliveryPage),
  "POST /deliveries/redeliver": {
    response: object<{ redelivered: number }>({ redelivered: integer }),
    body: redelivery,
  },
  "POST /deliveries/give-up": {
    response: object<{ givenUp: number }>({ givenUp: integer }),
    body: object<{ taskId: string; configId: string }>({ taskId: text, configId: text }),
  },
  "GET /server": answers(serverInfo),
  "GET /server/figures": answers(figuresPage),
  "GET /server/config": listOf("options", optionRow),
  "GET /server/limits": listOf("limits", limitRow),
  "GET /logs": answers(logPage),
  "GET /tokens": answers(
    object<{ tokens: readonly TokenInfo[]; nextPageToken: string }>({
      tokens: list(tokenInfo),
      nextPageToken: text,
    }),
  ),
  "POST /tokens": { response: token, body: newToken },
  "DELETE /tokens/{id}": answers(tokenInfo),
  "GET /docs": listOf("pages", docPage),
  "GET /docs/{section}/{page}": { response: text, type: "text/markdown" },
  "GET /openapi.json": answers(anyObject),
};

/** A route without an entry: any JSON. */
export const schemaOf = (verb: string, path: string): RouteSchema =>
  ROUTE_SCHEMAS[`${verb} ${path}`] ?? answers(anyJson);
