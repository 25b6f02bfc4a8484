import type { Json, JsonObject } from "../lib/json.ts";
import type { CallControl, PushHandle } from "./api.ts";
import type { PushCalls } from "./client-protocol.ts";
import { notInDialect, type RemoteAgent } from "./open.ts";
import { asList, asObject } from "./read.ts";
import type { WebhookConfig } from "./types.ts";

/** A call that is repeated while the agent is unavailable. */
export type Retried = <T>(options: CallControl, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** The push configs of a task. */
export function createPushHandle(
  { endpoint, call }: RemoteAgent,
  taskId: string,
  retried: Retried,
): PushHandle {
  const send = async <T>(
    operation: keyof PushCalls["methods"],
    write: (calls: PushCalls) => JsonObject,
    read: (calls: PushCalls, result: Json) => T,
    options: CallControl = {},
  ): Promise<T> => {
    const calls = endpoint.dialect.push;
    if (!calls) throw notInDialect(endpoint, "has no push configs", "push-not-supported");
    const params = write(calls);
    return read(calls, await retried(options, signal => call(calls.methods[operation], params, signal)));
  };
  const readOne = (calls: PushCalls, result: Json): WebhookConfig => calls.read(result);
  // v0.3 responds with the list itself.
  const readAll = (calls: PushCalls, result: Json): readonly WebhookConfig[] =>
    asList(asObject(result).configs ?? result).map(calls.read);
  return {
    set: (config, options) => send("set", calls => calls.write(taskId, config), readOne, options),
    get: (id, options) => send("get", calls => calls.writeRef(taskId, id), readOne, options),
    list: options => send("list", calls => calls.writeRef(taskId), readAll, options),
    delete: (id, options) => send("delete", calls => calls.writeRef(taskId, id), readNothing, options),
  };
}

const readNothing = (): void => {};
