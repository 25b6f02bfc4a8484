/** The face of `ctx.call`; what is behind it is loaded when somebody calls. */

import type { Call, CallOptions, CallReply, CallStep, CallStream } from "../../agent/calls.ts";
import type { Content, Ctx } from "../../agent/definition.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Turn } from "../../ports/index.ts";
import { describe, toParts } from "./content.ts";
import { toAgentTask } from "./task.ts";

type To = string | URL | JsonObject;

export function createCall(ctx: Ctx, turn: Turn): Call {
  const task = toAgentTask(turn);
  let count = 0;
  // Counted at once: calls are told apart by the order in which they were made.
  function stream(to: To, content: Content, options: CallOptions = {}): CallStream {
    const parts = { task, ctx, nth: ++count, to: checkTo(to), parts: toParts(content), options };
    return new Calling(async function* () {
      const { call } = await import("../remote/call.ts");
      return yield* call(parts);
    });
  }
  const call = (to: To, content: Content, options?: CallOptions): Promise<CallReply> =>
    stream(to, content, options).result;
  return Object.assign(call, { stream });
}

function checkTo(to: unknown): string | JsonObject {
  if (to instanceof URL) return to.href;
  if (typeof to === "string" && to !== "") return to;
  if (typeof to === "object" && to !== null && !Array.isArray(to)) return to as JsonObject;
  throw new TypeError(
    `ctx.call needs an address, such as "https://agents.example", or a card, got ${describe(to)}`,
  );
}

/** Goes on while somebody reads it; whoever wants only the result lets it be read. */
class Calling implements CallStream {
  readonly #steps: AsyncGenerator<CallStep, CallReply>;
  readonly #reply = Promise.withResolvers<CallReply>();
  #isRead = false;

  constructor(call: () => AsyncGenerator<CallStep, CallReply>) {
    this.#steps = this.#watch(call);
    // Whoever reads the steps hears of it there.
    this.#reply.promise.catch(() => undefined);
  }

  [Symbol.asyncIterator](): AsyncIterator<CallStep> {
    this.#isRead = true;
    return this.#steps;
  }

  get result(): Promise<CallReply> {
    if (!this.#isRead) void this.#drain();
    return this.#reply.promise;
  }

  async #drain(): Promise<void> {
    this.#isRead = true;
    try {
      while (!(await this.#steps.next()).done);
    } catch {
      // Told by the result.
    }
  }

  async *#watch(call: () => AsyncGenerator<CallStep, CallReply>): AsyncGenerator<CallStep, CallReply> {
    try {
      const reply = yield* call();
      this.#reply.resolve(reply);
      return reply;
    } catch (error) {
      this.#reply.reject(error);
      throw error;
    } finally {
      this.#reply.reject(new Error("the answer of the other agent was not read to its end"));
    }
  }
}
