import type { Json, JsonObject } from "../../lib/json.ts";
import type { Seq } from "../../model/index.ts";
import type { Agent, Operation, OperationResult, StreamEncoder } from "../../ports/index.ts";
import { ChatEncoder, encodeCompletion } from "./encode-chat.ts";
import { encodeInputItems, encodeResponse, requireTurn } from "./encode-response.ts";
import { ResponseEncoder } from "./response-encoder.ts";

/** The words of an operation's form: the object that is wanted, and how. */
interface Form {
  readonly object: string;
  readonly isJson: boolean;
  readonly isBackground: boolean;
  readonly withUsage: boolean;
  readonly turn: number | undefined;
  readonly startingAfter: number | undefined;
}

function readForm({ form = "" }: Operation): Form {
  const [object = "", ...words] = form.split(" ");
  const numberOf = (name: string): number | undefined => {
    const word = words.find(one => one.startsWith(`${name}:`));
    return word === undefined ? undefined : Number(word.slice(name.length + 1));
  };
  return {
    object,
    isJson: words.includes("json"),
    isBackground: words.includes("background"),
    withUsage: words.includes("usage"),
    turn: numberOf("turn"),
    startingAfter: numberOf("after"),
  };
}

export function encodeResult(operation: Operation, result: OperationResult): Json {
  switch (result.kind) {
    case "agents":
      return toList(result.agents.map(encodeModel));
    case "card":
      return operation.form === "models" ? toList([encodeModel(result.agent)]) : encodeModel(result.agent);
    case "task": {
      const form = readForm(operation);
      if (form.object === "chat") return encodeCompletion(result.task, form.isJson);
      requireTurn(result.task, form.turn);
      return form.object === "items" ? encodeInputItems(result.task) : encodeResponse(result.task, form);
    }
    default:
      throw new Error(`the OpenAI API cannot encode a result of the kind "${result.kind}"`);
  }
}

const toList = (data: readonly JsonObject[]): JsonObject => ({ object: "list", data });

/** An agent has no date. */
const encodeModel = ({ name, card }: Agent): JsonObject => ({
  id: name,
  object: "model",
  created: 0,
  owned_by: card.provider?.organization ?? "dragoman",
});

export function createEncoder(operation: Operation, after: Seq | undefined): StreamEncoder {
  const form = readForm(operation);
  return form.object === "chat"
    ? new ChatEncoder({ ...form, after })
    : new ResponseEncoder({ ...form, after });
}
