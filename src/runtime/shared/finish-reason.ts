/** Finish reasons of a model that its caller is told. */
import type { TextOptions } from "../../agent/content.ts";
import type { AgentOutput, Ctx } from "../../agent/context.ts";

export const CONTENT_FILTERED = "The answer was blocked by a content filter: rephrase the message";

/** Marks the text as truncated: the model reached its token limit. */
export const toTruncated = (ctx: Ctx, text: TextOptions = {}): AgentOutput =>
  ctx.text("", { ...text, last: true, metadata: { finishReason: "length" } });
