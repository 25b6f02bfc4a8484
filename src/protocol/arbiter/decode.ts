import type { JsonObject } from "../../lib/json.ts";
import { Fault, type Part, type Seq } from "../../model/index.ts";
import type { Send, WireCall } from "../../ports/index.ts";
import { createPushReader, readPart as readKindPart } from "../shared/kind-read.ts";
import { bad, member, readParams } from "../shared/read.ts";
import { readSend as readOfficialSend, type Spelling } from "../shared/send.ts";

const SPELLING: Spelling = {
  origin: "arbiter",
  user: ["user"],
  readPart,
  push: "pushNotificationConfig",
  readPush: createPushReader("arbiter"),
};

/** A message always begins a task: one that it names is not looked at. */
export function readSend(call: WireCall): Send {
  const { taskId: _, ...send } = readOfficialSend(call, readParams(call), SPELLING).send;
  return { ...send, shown: true };
}

function readPart(from: JsonObject, path: string): Part {
  const kind = member(from, "kind");
  if (kind === "text") return readKindPart(from, path);
  if (typeof kind !== "string") throw bad(`${path}.kind`, 'must be "text"');
  throw new Fault("content-type-not-supported", 'Only parts of the kind "text" are taken here', {
    field: path,
  });
}

/** The place after which a reader wants to read on; 0: from the beginning. */
export function readSince(call: WireCall): Seq {
  const text = call.query.get("since_seq") ?? "0";
  if (!/^\d{1,15}$/.test(text)) throw bad("since_seq", "must be the number of an event, or 0");
  return Number(text) as Seq;
}
