import { defined, type JsonObject } from "../../lib/json.ts";
import { type AgentName, Fault, type TaskId } from "../../model/index.ts";
import type { Operation, Send, WireCall } from "../../ports/index.ts";
import {
  bad,
  member,
  needId,
  readExtensions,
  readObject,
  readParams,
  readRequestMetadata,
  readText,
} from "../shared/read.ts";
import { readInline } from "../shared/send.ts";
import { createOnlyReader } from "../shared/type-push.ts";
import { createPartReader, type ReadPart, readTypeMessage } from "../shared/type-read.ts";
import { carries } from "./names.ts";

const readAnyPart = createPartReader(carries);
export const readPush = createOnlyReader("orloj");

/** The document has parts of text and of data. */
const readDocumentedPart: ReadPart = (from, path) => {
  if (member(from, "type") !== "file") return readAnyPart(from, path);
  throw new Fault("content-type-not-supported", `${path}.type must be "text" or "data"`, {
    field: `${path}.type`,
  });
};

/** With what v0.1 has beyond the document. */
export function readAnySend(call: WireCall): Send {
  const push = readInline(call, readParams(call), "", { push: "pushNotification", readPush });
  const send = readSend(call, readAnyPart);
  return push ? { ...send, push } : send;
}

export const readDocumentedSend = (call: WireCall): Send => readSend(call, readDocumentedPart);

function readSend(call: WireCall, readPart: ReadPart): Send {
  const params = readParams(call);
  return defined<Send>({
    origin: "orloj",
    alias: needId(params, "id", ""),
    message: readTypeMessage(params, readPart),
    shown: true as const,
    metadata: readStrings(params),
    extensions: readExtensions(call),
  });
}

function readStrings(params: JsonObject): JsonObject | undefined {
  const metadata = readRequestMetadata(params);
  for (const [name, value] of Object.entries(metadata ?? {}))
    if (typeof value !== "string") throw bad(`metadata.${name.slice(0, 100)}`, "must be a string");
  return metadata;
}

export const readTask = (call: WireCall): TaskId => needId(readParams(call), "id", "") as TaskId;

export function readReason(call: WireCall): { readonly reason?: string } {
  const reason = readText(readParams(call), "reason", "");
  return reason ? { reason } : {};
}

/** Whom a call is for that came to the shared path: the metadata says it; `otherwise`: what counts if they do not. */
export function readTarget(
  call: WireCall,
  otherwise: NonNullable<Operation["choice"]>,
): Pick<Operation, "agent" | "choice"> {
  const metadata = readObject(readParams(call), "metadata", "") ?? {};
  const named = readText(metadata, "agent", "metadata") || readText(metadata, "target", "metadata");
  return named ? { agent: named as AgentName } : { agent: undefined, choice: otherwise };
}
