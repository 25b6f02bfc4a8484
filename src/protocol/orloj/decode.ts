import { defined, type JsonObject } from "../../lib/json.ts";
import { type AgentName, Fault } from "../../model/index.ts";
import type { Operation, SendRequest, WireCall } from "../../ports/index.ts";
import { decodeInlinePush } from "../shared/decode-send.ts";
import {
  getMember,
  invalidField,
  readObject,
  readParams,
  readRequestMetadata,
  readString,
  requireId,
} from "../shared/fields.ts";
import { readExtensions } from "../shared/headers.ts";
import {
  createV01PartDecoder,
  createV01PushDecoder,
  type DecodePart,
  decodeV01Message,
} from "../shared/v01-decode.ts";
import { allowsData } from "./names.ts";

const decodeAnyPart = createV01PartDecoder(allowsData);
export const decodePush = createV01PushDecoder("orloj");

/** The document has text and data parts only. */
const decodeDocumentedPart: DecodePart = (from, path) => {
  if (getMember(from, "type") !== "file") return decodeAnyPart(from, path);
  throw new Fault("content-type-not-supported", `${path}.type must be "text" or "data"`, {
    field: `${path}.type`,
  });
};

export const decodeDocumentedSend = (call: WireCall): SendRequest => decodeSend(call, decodeDocumentedPart);

/** With the file parts and the push config of v0.1. */
export function decodeExtendedSend(call: WireCall): SendRequest {
  const push = decodeInlinePush(call, readParams(call), "", { pushMember: "pushNotification", decodePush });
  const send = decodeSend(call, decodeAnyPart);
  return push ? { ...send, push } : send;
}

function decodeSend(call: WireCall, decodePart: DecodePart): SendRequest {
  const params = readParams(call);
  return defined<SendRequest>({
    origin: "orloj",
    alias: requireId(params, "id", ""),
    message: decodeV01Message(params, decodePart),
    shown: true as const,
    metadata: decodeMetadata(params),
    extensions: readExtensions(call),
  });
}

function decodeMetadata(params: JsonObject): JsonObject | undefined {
  const metadata = readRequestMetadata(params);
  for (const [name, value] of Object.entries(metadata ?? {}))
    if (typeof value !== "string") throw invalidField(`metadata.${name.slice(0, 100)}`, "must be a string");
  return metadata;
}

export function readReason(call: WireCall): { readonly reason?: string } {
  const reason = readString(readParams(call), "reason", "");
  return reason ? { reason } : {};
}

/** The agent of a call at the shared path `/a2a`: named in the metadata, else `choice`. */
export function decodeTarget(
  call: WireCall,
  choice: NonNullable<Operation["choice"]>,
): Pick<Operation, "agent" | "choice"> {
  const metadata = readObject(readParams(call), "metadata", "") ?? {};
  const name = readString(metadata, "agent", "metadata") || readString(metadata, "target", "metadata");
  return name ? { agent: name as AgentName } : { agent: undefined, choice };
}
