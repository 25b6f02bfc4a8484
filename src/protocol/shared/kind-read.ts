import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { LIMITS, type Part, TASK_STATES, type View } from "../../model/index.ts";
import type { ListFilter, Send, WireCall } from "../../ports/index.ts";
import { ONLY, readPush } from "./push-config.ts";
import {
  bad,
  checkJson,
  isObject,
  member,
  needObject,
  readBase64,
  readContextId,
  readCount,
  readFlag,
  readMetadata,
  readText,
} from "./read.ts";
import { type ReadPush, readSend, type Spelling } from "./send.ts";

/** What is read in the shape that v0.2 and v0.3 have, and the dialects that grew from them: parts tell their `kind`. */

export function readKindSend(
  call: WireCall,
  params: JsonObject,
  origin: string,
): { send: Send; view: View; blocking: boolean } {
  const spelling = { ...SPELLING, origin, readPush: createPushReader(origin) };
  const { send, view, configuration } = readSend(call, params, spelling);
  // v0.3 leaves the default open; every SDK blocks.
  return { send, view, blocking: readFlag(configuration, "blocking", "configuration") ?? true };
}

const SPELLING: Omit<Spelling, "origin" | "readPush"> = {
  user: ["user"],
  readPart,
  push: "pushNotificationConfig",
};

/** Only who gives names to them has several: they came with v0.2.2. */
export const createPushReader =
  (origin: string): ReadPush =>
  (call, from, path) => ({ id: ONLY, ...readPush(call, from, path, origin) });

export function readPart(from: JsonObject, path: string): Part {
  const metadata = readMetadata(from, path);
  switch (member(from, "kind")) {
    case "text": {
      const text = readText(from, "text", path);
      if (text === undefined) throw bad(`${path}.text`, "is required");
      return metadata ? { kind: "text", text, metadata } : { kind: "text", text };
    }
    case "file":
      return readFile(needObject(from, "file", path), `${path}.file`, metadata);
    case "data":
      return readData(from, path, metadata);
    default:
      throw bad(`${path}.kind`, 'must be "text", "file" or "data"');
  }
}

/** How the members of a file are called, first as they should be. The specification's own examples say `data` for bytes. */
const FILE = { bytes: ["bytes", "data"], uri: "uri" };

export function readFile(
  file: JsonObject,
  path: string,
  metadata: JsonObject | undefined,
  names: { readonly bytes: readonly string[]; readonly uri: string } = FILE,
): Part {
  const extras = defined<Pick<Part, "filename" | "mediaType" | "metadata">>({
    filename: readText(file, "name", path) || undefined,
    mediaType: readText(file, "mimeType", path) || undefined,
    metadata,
  });
  const [inBytes] = names.bytes;
  const bytes = names.bytes.map(name => readText(file, name, path)).find(text => text !== undefined);
  const uri = readText(file, names.uri, path);
  if ((bytes === undefined) === (uri === undefined))
    throw bad(path, `must have either ${inBytes} or ${names.uri}`);
  if (bytes !== undefined)
    return { kind: "bytes", bytes: readBase64(bytes, `${path}.${inBytes}`), ...extras };
  if (!URL.canParse(uri as string)) throw bad(`${path}.${names.uri}`, "must be an absolute URI");
  return { kind: "url", url: uri as string, ...extras };
}

/** What is no object travels wrapped (the official SDKs' convention): see write.ts. */
export function readData(from: JsonObject, path: string, metadata: JsonObject | undefined): Part {
  const value = member(from, "data");
  if (!isObject(value)) throw bad(`${path}.data`, "must be an object");
  checkJson(value, `${path}.data`);
  if (metadata?.data_part_compat !== true)
    return metadata ? { kind: "data", data: value, metadata } : { kind: "data", data: value };
  const { data_part_compat: _, ...rest } = metadata;
  const data: Json = value.value ?? null;
  return Object.keys(rest).length > 0 ? { kind: "data", data, metadata: rest } : { kind: "data", data };
}

export function readFilter(params: JsonObject): ListFilter {
  const wanted = member(params, "status");
  // v0.3 §6.3: its names of states are the ones that we use inside.
  const state = TASK_STATES.find(one => one === wanted);
  if (wanted !== undefined && state === undefined)
    throw bad("status", `must be one of ${TASK_STATES.join(", ")}`);
  return defined<ListFilter>({
    contextId: readContextId(params, "contextId", ""),
    state,
    pageSize:
      readCount(params, "pageSize", "", { min: 1, max: LIMITS.pageSizeMax }) ?? LIMITS.pageSizeDefault,
    pageToken: readText(params, "pageToken", "") || undefined,
  });
}
