import { defined } from "../../lib/json.ts";
import type { View } from "../../model/index.ts";
import type { SendRequest, WireCall } from "../../ports/index.ts";
import { decodeInlinePush, decodeView } from "../shared/decode-send.ts";
import { readContextId, readId, readParams, readRequestMetadata, readStrings } from "../shared/fields.ts";
import { readExtensions } from "../shared/headers.ts";
import { createV01PartDecoder, createV01PushDecoder, decodeV01Message } from "../shared/v01-decode.ts";
import { allowsData } from "./names.ts";

const decodePart = createV01PartDecoder(allowsData);
export const decodePush = createV01PushDecoder("v01");

/** R6: `id` is the caller's id for the task; without it the task has only the id of the server. */
export function decodeSend(call: WireCall): { readonly send: SendRequest; readonly view: View } {
  const params = readParams(call);
  const send = defined<SendRequest>({
    origin: "v01",
    message: decodeV01Message(params, decodePart),
    shown: true as const,
    alias: readId(params, "id", ""),
    contextId: readContextId(params, "sessionId", ""),
    metadata: readRequestMetadata(params),
    acceptedOutputModes: readStrings(params, "acceptedOutputModes", ""),
    extensions: readExtensions(call),
    push: decodeInlinePush(call, params, "", { pushMember: "pushNotification", decodePush }),
  });
  return { send, view: decodeView(params, "") };
}
