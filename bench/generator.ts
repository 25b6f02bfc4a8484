import { once } from "node:events";
import type { Children } from "./children.ts";
import type { Hold, Order, Outcome, Pace, PaceOutcome, Reply, Request } from "./load/order.ts";

/** The load generator's process, as the bench sees it: one request at a time. */
export interface Generator {
  /** Connections are open when this resolves. */
  prepare(order: Order): Promise<void>;
  go(): Promise<Outcome>;
  hold(hold: Hold): Promise<void>;
  release(): Promise<void>;
  pace(pace: Pace): Promise<PaceOutcome>;
  end(): Promise<void>;
}

export function createGenerator(children: Children): Generator {
  const child = children.fork("./load/main.ts");
  const ended = once(child, "exit").then(
    () => ({ type: "broken", why: "the load generator ended" }) as Reply,
  );

  async function ask(request: Request): Promise<Reply> {
    const answered = once(child, "message").then(([answer]) => answer as Reply);
    child.send(request);
    const reply = await Promise.race([answered, ended]);
    if (reply.type === "broken") throw new Error(reply.why);
    return reply;
  }

  async function go(): Promise<Outcome> {
    const reply = await ask({ type: "go" });
    if (reply.type !== "done")
      throw new Error(`the load generator replied "${reply.type}" instead of an outcome`);
    return reply.outcome;
  }

  async function pace(order: Pace): Promise<PaceOutcome> {
    const reply = await ask({ type: "pace", pace: order });
    if (reply.type !== "paced")
      throw new Error(`the load generator replied "${reply.type}" instead of an outcome`);
    return reply.outcome;
  }

  return {
    pace,
    prepare: async order => void (await ask({ type: "prepare", order })),
    go,
    hold: async hold => void (await ask({ type: "hold", hold })),
    end: () => children.end(child),
    release: async () => void (await ask({ type: "release" })),
  };
}
