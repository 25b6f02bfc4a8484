import { defined, type View } from "../../model/index.ts";
import type { Send, WireCall } from "../../ports.ts";
import {
  readContextId,
  readExtensions,
  readId,
  readObject,
  readParams,
  readRequestMetadata,
  readTexts,
} from "../read.ts";
import { readView } from "../send.ts";
import { createPartReader, readTypeMessage } from "../type-read.ts";
import { carries } from "./names.ts";

const readPart = createPartReader(carries);

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
    push: readObject(params, "pushNotification", "") && {
      field: "pushNotification",
      config: { url: "", origin: "v01", events: "all" },
    },
  });
  return { send, view: readView(params, "") };
}
