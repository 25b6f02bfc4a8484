/** Reads one task in several dialects of the same server. */
import { asList, asObject, asText } from "../../client/read.ts";
import type { Json, JsonObject } from "../../lib/json.ts";

export interface DialectReading {
  readonly dialect: string;
  /** Path and method. */
  readonly call: string;
  /** The state, as the dialect spells it. */
  readonly state: string;
  readonly text: string;
}

interface DialectCall {
  readonly dialect: string;
  readonly path: string;
  readonly method: string;
  readonly version?: string;
}

const CALLS: readonly DialectCall[] = [
  { dialect: "A2A 1.0", path: "/agents/story", method: "GetTask", version: "1.0" },
  { dialect: "A2A 0.3", path: "/agents/story", method: "tasks/get", version: "0.3" },
  { dialect: "LangGraph", path: "/a2a/story", method: "tasks/get" },
  { dialect: "Arbiter", path: "/v1/a2a/agents/story", method: "tasks/get" },
];

export const readInDialects = (
  fetch: typeof globalThis.fetch,
  url: string,
  { taskId, contextId }: { readonly taskId: string; readonly contextId: string },
): Promise<readonly DialectReading[]> =>
  Promise.all(
    CALLS.map(async ({ dialect, path, method, version }) => {
      const response = await fetch(`${url}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(version !== undefined && { "a2a-version": version }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { id: taskId, contextId } }),
      });
      const task = toTask(asObject((await response.json()) as Json).result);
      const artifacts = asList(task.artifacts).flatMap(artifact => asList(asObject(artifact).parts));
      // Arbiter has no artifacts: its response is the message of the status.
      const parts = artifacts.length > 0 ? artifacts : asList(asObject(asObject(task.status).message).parts);
      return {
        dialect,
        call: `POST ${path} ${method}`,
        state: asText(asObject(task.status).state) ?? "no task",
        text: parts.map(part => asText(asObject(part).text) ?? "").join(""),
      };
    }),
  );

/** Some dialects wrap the task. */
function toTask(result: Json | undefined): JsonObject {
  const object = asObject(result);
  return object.task === undefined ? object : asObject(object.task);
}
