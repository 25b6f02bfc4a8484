import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import type { NewPush, Part, View } from "../../model/index.ts";
import type { Send, WireCall } from "../../ports/index.ts";
import {
  at,
  bad,
  member,
  needId,
  needObject,
  readContextId,
  readCount,
  readExtensions,
  readId,
  readMetadata,
  readObject,
  readParts,
  readRequestMetadata,
  readTaskId,
  readTexts,
} from "./read.ts";

/** In what the official dialects differ when they send; the rest of a send is the same in all of them. */
export interface Spelling {
  readonly origin: string;
  /** How the role of a caller is spelled, first as it should be. */
  readonly user: readonly Json[];
  /** Role and messageId may be missing. */
  readonly loose?: true;
  /** The member of a message with its parts, if it is not `parts`. */
  readonly parts?: string;
  readonly readPart: (from: JsonObject, path: string) => Part;
  /** The member of `configuration` that asks for push. */
  readonly push: string;
  readonly readPush: ReadPush;
}
export type ReadPush = (call: WireCall, from: JsonObject, path: string) => NewPush;

const PATH = "configuration";

export function readSend(
  call: WireCall,
  params: JsonObject,
  spelling: Spelling,
): { readonly send: Send; readonly view: View; readonly configuration: JsonObject } {
  const message = readMessage(needObject(params, "message", ""), "message", spelling);
  const configuration = readObject(params, PATH, "") ?? {};
  const { taskId, contextId, ...said } = message;
  const send = defined<Send>({
    origin: spelling.origin,
    message: said,
    taskId,
    contextId,
    metadata: readRequestMetadata(params),
    acceptedOutputModes: readTexts(configuration, "acceptedOutputModes", PATH),
    extensions: readExtensions(call),
    push: readInline(call, configuration, PATH, spelling),
  });
  return { send, view: readView(configuration, PATH), configuration };
}

/** Where updates of what is begun here are to be delivered to; `path`: of the object that says it. */
export function readInline(
  call: WireCall,
  from: JsonObject,
  path: string,
  { push, readPush }: Pick<Spelling, "push" | "readPush">,
): Send["push"] {
  const said = readObject(from, push, path);
  const field = at(path, push);
  return said && { field, config: readPush(call, said, field) };
}

function readMessage(from: JsonObject, path: string, spelling: Spelling): Send["message"] {
  const { loose } = spelling;
  const role = member(from, "role") ?? (loose && spelling.user[0]);
  if (role === undefined || !spelling.user.includes(role))
    throw bad(`${path}.role`, `must be "${spelling.user[0]}"`);
  return defined<Send["message"]>({
    messageId: loose ? readId(from, "messageId", path) : needId(from, "messageId", path),
    role: "user" as const,
    parts: readParts(from, spelling.parts ?? "parts", path, spelling.readPart),
    taskId: readTaskId(from, "taskId", path),
    contextId: readContextId(from, "contextId", path),
    metadata: readMetadata(from, path),
    extensions: readTexts(from, "extensions", path),
    referenceTaskIds: readTexts(from, "referenceTaskIds", path),
  });
}

const HISTORY = { min: 0, max: 2 ** 31 - 1 };

export function readView(from: JsonObject, path: string, artifacts = true): View {
  const historyMax = readCount(from, "historyLength", path, HISTORY);
  return historyMax === undefined ? { artifacts } : { artifacts, historyMax };
}
