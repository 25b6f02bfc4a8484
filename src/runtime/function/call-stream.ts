/** `ctx.call`; its implementation is imported on the first call. */

import type { Call, CallOptions, CallReply, CallStep, CallStream } from "../../agent/calls.ts";
import type { Content } from "../../agent/content.ts";
import type { Ctx } from "../../agent/context.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Usage } from "../../model/index.ts";
import type { Turn } from "../../ports/index.ts";
import { describeValue } from "../shared/describe-value.ts";
import { toParts } from "./content.ts";
import { toAgentTask } from "./task.ts";

type To = string | URL | JsonObject;

/** `addUsage`: see `OutgoingCallParts`. */
export function createCall(ctx: Ctx, turn: Turn, addUsage: (messageId: string, usage: Usage) => void): Call {
  const { agents } = turn;
  const task = toAgentTask(turn);
  let count = 0;
  // Counted before the call starts: a repeated run recognizes calls by their order.
  function stream(to: To, content: Content, options: CallOptions = {}): CallStream {
    const parts = {
      task,
      ctx,
      agents,
      nth: ++count,
      to: checkTo(to),
      parts: toParts(content),
      options,
      addUsage,
    };
    return new LazyCallStream(async function* () {
      const { call } = await import("../calls/call.ts");
      return yield* call(parts);
    });
  }
  const call = (to: To, content: Content, options?: CallOptions): Promise<CallReply> =>
    stream(to, content, options).result;
  const answer: Call["answer"] = (reply, content, options) => {
    if (!reply?.task) throw new TypeError("ctx.call.answer needs the reply of a task that asks");
    return call(reply.to, content, { ...options, taskId: reply.task.id });
  };
  return Object.assign(call, { stream, answer });
}

function checkTo(to: unknown): string | JsonObject {
  if (to instanceof URL) return to.href;
  if (typeof to === "string" && to !== "") return to;
  if (typeof to === "object" && to !== null && !Array.isArray(to)) return to as JsonObject;
  throw new TypeError(
    `ctx.call needs the name of an agent, a URL, such as "https://agents.example", or a card, got ${describeValue(to)}`,
  );
}

/** Advances while it is read; `result` without a reader reads it to the end. */
class LazyCallStream implements CallStream {
  readonly #steps: AsyncGenerator<CallStep, CallReply>;
  readonly #reply = Promise.withResolvers<CallReply>();
  #isRead = false;

  constructor(call: () => AsyncGenerator<CallStep, CallReply>) {
    this.#steps = this.#settleReply(call);
    // A reader of the steps gets the error there.
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
      // The result rejects.
    }
  }

  async *#settleReply(call: () => AsyncGenerator<CallStep, CallReply>): AsyncGenerator<CallStep, CallReply> {
    try {
      const reply = yield* call();
      this.#reply.resolve(reply);
      return reply;
    } catch (error) {
      this.#reply.reject(error);
      throw error;
    } finally {
      this.#reply.reject(new Error("the stream of the call was not read to its end"));
    }
  }
}
