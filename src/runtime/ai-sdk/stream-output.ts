/** Converts the parts of an AI SDK stream to output for the caller. */
import type { Json, JsonObject } from "../../lib/json.ts";
import type { RuntimeOutput } from "../shared/output-writer.ts";
import { toPlain } from "../shared/to-plain.ts";
import type { StreamPart } from "./agent.ts";

export interface OutputFilter {
  readonly tools: boolean;
  readonly reasoning: boolean;
}

/** undefined: the part is not for the caller. */
export function toOutput(part: StreamPart, { tools, reasoning }: OutputFilter): RuntimeOutput | undefined {
  switch (part.type) {
    case "text-delta":
      return part.text ? { text: part.text } : undefined;
    case "reasoning-delta":
      return reasoning && part.text ? { reasoning: part.text } : undefined;
    case "file":
      return part.file && { file: { bytes: part.file.base64, mediaType: part.file.mediaType } };
    default:
      return tools ? toToolOutput(part) : undefined;
  }
}

/** The error of a failed tool is for the model and for the log, not for the caller. */
function toToolOutput(part: StreamPart): RuntimeOutput | undefined {
  const call = { id: part.toolCallId ?? "", tool: part.toolName ?? "" };
  const toResult = (status: string, more: { readonly result?: Json }): RuntimeOutput => ({
    result: { ...call, status, ...more } as JsonObject,
  });
  switch (part.type) {
    case "tool-call":
      return { call: { ...call, args: toPlain(part.input ?? {}) } };
    case "tool-result":
      return part.preliminary ? undefined : toResult("success", { result: toPlain(part.output) });
    case "tool-error":
      return toResult("error", {});
    case "tool-output-denied":
      return toResult("denied", {});
    default:
      return undefined;
  }
}
