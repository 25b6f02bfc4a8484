/** What goes along with a call from one of our tasks to an agent somewhere else. */
import type { AgentTask, Ctx } from "../../agent/definition.ts";
import type { Draft } from "../../client/types.ts";

/**
 * Headers and thread of a call. `name` is the same whenever the call is made again: a server that knows names of calls
 * takes it once.
 */
export function toPassage(task: AgentTask, ctx: Ctx, name: string): Pick<Draft, "headers" | "thread"> {
  const { traceparent, tracestate, baggage } = ctx.trace ?? {};
  return {
    thread: task.thread,
    headers: {
      "idempotency-key": name,
      "dragoman-hops": String(ctx.hops + 1),
      ...(traceparent !== undefined && { traceparent }),
      ...(tracestate !== undefined && { tracestate }),
      ...(baggage !== undefined && { baggage }),
    },
  };
}
