import type { Connection } from "./connection.ts";
import { prepare } from "./drive.ts";
import { hold } from "./hold.ts";
import type { Outcome, Reply, Request } from "./order.ts";
import { pace } from "./pace.ts";

/**
 * The load generator: a separate process, so that its CPU time is not the server's and its pauses are not the
 * bench's.
 */

let go: (() => Promise<Outcome>) | undefined;
let held: Connection[] = [];

async function answer(request: Request): Promise<Reply> {
  switch (request.type) {
    case "prepare":
      go = await prepare(request.order);
      return { type: "ready" };
    case "go":
      if (go === undefined) throw new Error("go was requested before an order");
      return { type: "done", outcome: await go() };
    case "hold":
      held = held.concat(await hold(request.hold));
      return { type: "held" };
    case "release":
      for (const connection of held) connection.close();
      held = [];
      return { type: "released" };
    case "pace":
      return { type: "paced", outcome: await pace(request.pace) };
  }
}

function sendReply(reply: Reply): void {
  process.send?.(reply);
}

process.on("message", request => {
  answer(request as Request).then(sendReply, (error: Error) =>
    sendReply({ type: "broken", why: error.message }),
  );
});
// The bench has ended, so there is nothing left to do.
process.on("disconnect", () => process.exit());
