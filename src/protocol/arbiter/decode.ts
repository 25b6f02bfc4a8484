import type { JsonObject } from "../../lib/json.ts";
import { Fault, type Part, type Seq } from "../../model/index.ts";
import type { SendRequest, WireCall } from "../../ports/index.ts";
import { decodeSendParams, type SendSyntax } from "../shared/decode-send.ts";
import { getMember, invalidField, readParams } from "../shared/fields.ts";
import { createV03PushDecoder, decodeV03Part, V03_ROLES } from "../shared/v03-decode.ts";

const SYNTAX: SendSyntax = {
  origin: "arbiter",
  roles: V03_ROLES,
  decodePart,
  pushMember: "pushNotificationConfig",
  decodePush: createV03PushDecoder("arbiter"),
};

/** A message always begins a new task: its `taskId` is ignored. */
export function decodeSend(call: WireCall): SendRequest {
  const { taskId: _, ...send } = decodeSendParams(call, readParams(call), SYNTAX).send;
  return { ...send, shown: true };
}

function decodePart(from: JsonObject, path: string): Part {
  const kind = getMember(from, "kind");
  if (kind === "text") return decodeV03Part(from, path);
  if (typeof kind !== "string") throw invalidField(`${path}.kind`, 'must be "text"');
  throw new Fault("content-type-not-supported", 'Unsupported part kind: only "text" is accepted', {
    field: path,
  });
}

/** The last event that the client has; 0: none. */
export function readSinceSeq(call: WireCall): Seq {
  const text = call.query.get("since_seq") ?? "0";
  if (!/^\d{1,15}$/.test(text)) throw invalidField("since_seq", "must be the number of an event, or 0");
  return Number(text) as Seq;
}
