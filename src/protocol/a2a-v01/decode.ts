import { defined } from "../../lib/json.ts";
import type { View } from "../../model/index.ts";
import type { Send, WireCall } from "../../ports/index.ts";
import {
  readContextId,
  readExtensions,
  readId,
  readParams,
  readRequestMetadata,
  readTexts,
} from "../shared/read.ts";
import { readInline, readView } from "../shared/send.ts";
import { createOnlyReader } from "../shared/type-push.ts";
import { createPartReader, readTypeMessage } from "../shared/type-read.ts";
import { carries } from "./names.ts";

const readPart = createPartReader(carries);
export const readPush = createOnlyReader("v01");

/** R6: a caller should name his task; one without a name gets the server's id. */
export function readSend(call: WireCall): { readonly send: Send; readonly view: View } {
  const params = readParams(call);
  const send = defined<Send>({
    origin: "v01",
    message: readTypeMessage(params, readPart),
    shown: true as const,
    alias: readId(params, "id", ""),
    contextId: readContextId(params, "sessionId", ""),
    metadata: readRequestMetadata(params),
    acceptedOutputModes: readTexts(params, "acceptedOutputModes", ""),
    extensions: readExtensions(call),
    push: readInline(call, params, "", { push: "pushNotification", readPush }),
  });
  return { send, view: readView(params, "") };
}
