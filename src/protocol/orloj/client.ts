import type { ClientDialect } from "../../client/client-protocol.ts";
import { asObject } from "../../client/read.ts";
import { v01 } from "../a2a-v01/client.ts";
import { NOT_VISIBLE } from "./faults.ts";

/** Every event is the whole task, without an envelope. Metadata values are strings; there is no session. */
export const orloj: ClientDialect = {
  ...v01,
  title: "Orloj",
  toFault: number => (number === NOT_VISIBLE ? "agent-not-found" : v01.toFault(number)),
  unwrappedFrames: true,
  resumeBy: "snapshot",
  repeatsText: true,
  writeSend: message => {
    const { sessionId: _, metadata, ...params } = v01.writeSend(message);
    const strings = Object.entries(asObject(metadata)).filter(([, value]) => typeof value === "string");
    return strings.length === 0 ? params : { ...params, metadata: Object.fromEntries(strings) };
  },
  readResponse: result => ({ kind: "task", task: v01.readTask(result) }),
};
