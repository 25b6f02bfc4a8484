/** How a model comes to an end that its caller should know about. */
import type { Ctx, Said, TextOptions } from "../../agent/definition.ts";

export const FILTERED = "The answer was withheld by a content filter: say it in other words";

/** The model was stopped before it had said all: the text tells so. */
export const cutShort = (ctx: Ctx, at: TextOptions = {}): Said =>
  ctx.text("", { ...at, last: true, metadata: { finishReason: "length" } });
