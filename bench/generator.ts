import { once } from "node:events";
import type { Children } from "./children.ts";
import type { Ask, Hold, Order, Outcome, Say } from "./load/order.ts";

/** The load generator's process, seen from the bench: one question at a time. */
export interface Generator {
  /** Connections are open when this resolves. */
  prepare(order: Order): Promise<void>;
  go(): Promise<Outcome>;
  hold(hold: Hold): Promise<void>;
  release(): Promise<void>;
}

export function createGenerator(children: Children): Generator {
  const child = children.fork("./load/main.ts");
  const ended = once(child, "exit").then(() => ({ say: "broken", why: "the load generator ended" }) as Say);

  async function ask(words: Ask): Promise<Say> {
    const answered = once(child, "message").then(([answer]) => answer as Say);
    child.send(words);
    const say = await Promise.race([answered, ended]);
    if (say.say === "broken") throw new Error(say.why);
    return say;
  }

  async function go(): Promise<Outcome> {
    const say = await ask({ ask: "go" });
    if (say.say !== "done") throw new Error(`the load generator said "${say.say}" instead of an outcome`);
    return say.outcome;
  }

  return {
    prepare: async order => void (await ask({ ask: "prepare", order })),
    go,
    hold: async hold => void (await ask({ ask: "hold", hold })),
    release: async () => void (await ask({ ask: "release" })),
  };
}
