import type { Json } from "../../lib/json.ts";
import type { Operation, OperationResult } from "../../ports/index.ts";
import { encodeExtensibleCardV03, toAgentUrl } from "../shared/card.ts";
import { encodeV03Message, encodeV03Push, encodeV03Task } from "../shared/v03-encode.ts";

export function encodeResult(_operation: Operation, result: OperationResult): Json {
  switch (result.kind) {
    case "task":
      return encodeV03Task(result.task);
    case "message":
      return encodeV03Message(result.message);
    case "card":
      return { ...encodeExtensibleCardV03(result, toAgentUrl(result)), protocolVersion: "0.2.6" };
    case "push":
    case "pushes":
    case "nothing":
      return encodeV03Push(result);
    case "page":
    case "agents":
      throw new Error(`v0.2 cannot encode a result of the kind "${result.kind}"`);
  }
}
