import type { Json, JsonObject } from "../lib/json.ts";
import type { CallControl, PushHandle } from "./api.ts";
import type { PushCalls } from "./client-protocol.ts";
import { notInDialect, type RemoteAgent } from "./open.ts";
import { asList, asObject } from "./read.ts";

type Retried = <T>(options: CallControl, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** The push configs of a task. */
export function createPushHandle(
  { endpoint, call }: RemoteAgent,
  taskId: string,
  retried: Retried,
): PushHandle {
  const send = async (
    operation: keyof PushCalls["methods"],
    write: (calls: PushCalls) => JsonObject,
    options: CallControl = {},
  ): Promise<{ readonly calls: PushCalls; readonly result: Json }> => {
    const calls = endpoint.dialect.push;
    if (!calls) throw notInDialect(endpoint, "has no push configs", "push-not-supported");
    const params = write(calls);
    return {
      calls,
      result: await retried(options, signal => call(calls.methods[operation], params, signal)),
    };
  };
  return {
    async set(config, options) {
      const { calls, result } = await send("set", ({ write }) => write(taskId, config), options);
      return calls.read(result);
    },
    async get(id, options) {
      const { calls, result } = await send("get", ({ writeRef }) => writeRef(taskId, id), options);
      return calls.read(result);
    },
    async list(options) {
      const { calls, result } = await send("list", ({ writeRef }) => writeRef(taskId), options);
      // v0.3 responds with the list itself.
      return asList(asObject(result).configs ?? result).map(calls.read);
    },
    async delete(id, options) {
      await send("delete", ({ writeRef }) => writeRef(taskId, id), options);
    },
  };
}
