import type { Connection } from "./connection.ts";
import { prepare } from "./drive.ts";
import { hold } from "./hold.ts";
import type { Ask, Outcome, Say } from "./order.ts";

/** The load generator: a process of its own, so that its CPU time is not the server's and its pauses not the bench's. */

let go: (() => Promise<Outcome>) | undefined;
let held: Connection[] = [];

async function answer(ask: Ask): Promise<Say> {
  switch (ask.ask) {
    case "prepare":
      go = await prepare(ask.order);
      return { say: "ready" };
    case "go":
      if (go === undefined) throw new Error("told to go before an order");
      return { say: "done", outcome: await go() };
    case "hold":
      held = held.concat(await hold(ask.hold));
      return { say: "held" };
    case "release":
      for (const connection of held) connection.close();
      held = [];
      return { say: "released" };
  }
}

function say(words: Say): void {
  process.send?.(words);
}

process.on("message", ask => {
  answer(ask as Ask).then(say, (error: Error) => say({ say: "broken", why: error.message }));
});
// The bench is gone, in whatever way: nothing is left to do.
process.on("disconnect", () => process.exit());
