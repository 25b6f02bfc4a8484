import type { Json, JsonObject } from "../../lib/json.ts";
import type { Route, WireCall } from "../../ports/index.ts";
import { bad, isObject } from "./read.ts";

/** HTTP+JSON, as far as v1.0 and v0.3 have it in common: a path is a method, and what it needs stands in path, query and body. */

type Row = readonly [verb: Route["verb"], path: string, method: string];

/** v1 §11.3, v0.3 §3.5.3: methods have the names of v1.0, and what is in braces has the name of its parameter there. */
export const PATHS: readonly Row[] = [
  ["POST", "/message:send", "SendMessage"],
  ["POST", "/message:stream", "SendStreamingMessage"],
  ["GET", "/tasks", "ListTasks"],
  ["GET", "/tasks/{id}", "GetTask"],
  ["POST", "/tasks/{id}:cancel", "CancelTask"],
  // The text of the specification says POST, its definition GET.
  ["GET", "/tasks/{id}:subscribe", "SubscribeToTask"],
  ["POST", "/tasks/{id}:subscribe", "SubscribeToTask"],
  ["POST", "/tasks/{taskId}/pushNotificationConfigs", "CreateTaskPushNotificationConfig"],
  ["GET", "/tasks/{taskId}/pushNotificationConfigs", "ListTaskPushNotificationConfigs"],
  ["GET", "/tasks/{taskId}/pushNotificationConfigs/{id}", "GetTaskPushNotificationConfig"],
  ["DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}", "DeleteTaskPushNotificationConfig"],
];

/** Where the official protocol is spoken: with the default agent, and with each of them. */
const MOUNTS: readonly string[] = ["", "/agents/{agent}"];

/** Below which v0.3 has its paths (v0.3 §3.5.3). */
export const OLDER = "/v1";

export const routesBelow = (below: string, paths: readonly Row[]): readonly Route[] =>
  MOUNTS.flatMap(mount =>
    paths.map(([verb, path, method]) => ({
      transport: "rest",
      verb,
      path: `${mount}${below}${path}`,
      method,
    })),
  );

export const endpointsOf = (routes: readonly Route[]): ReadonlySet<string> =>
  new Set(routes.map(route => route.path));

/** The parameters as JSON-RPC would have them; what stands in the path counts more than what is said beside it. */
export function readRest(call: WireCall): JsonObject {
  const said = call.params ?? readQuery(call.query);
  if (!isObject(said)) throw bad("body", "must be a JSON object");
  return { ...said, ...(call.vars as JsonObject) };
}

const FLAGS: ReadonlySet<string> = new Set(["includeArtifacts", "include_artifacts"]);

/** A query knows nothing but text. Numbers may be text everywhere, flags only here; what is empty was not said. */
function readQuery(query: URLSearchParams): JsonObject {
  if (query.size === 0) return {};
  const said = [...query].filter(([, text]) => text !== "");
  return Object.fromEntries(said.map(([name, text]) => [name, toValue(name, text)]));
}

const toValue = (name: string, text: string): Json =>
  FLAGS.has(name) && (text === "true" || text === "false") ? text === "true" : text;
