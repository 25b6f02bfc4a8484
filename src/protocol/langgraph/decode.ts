import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { type ContextId, Fault, LIMITS, type Part, type TaskId, type View } from "../../model/index.ts";
import type { Send, WireCall } from "../../ports/index.ts";
import { createPushReader, readPart as readKindPart } from "../shared/kind-read.ts";
import {
  bad,
  isObject,
  member,
  readCount,
  readFlag,
  readId,
  readObject,
  readParams,
} from "../shared/read.ts";
import { readSend as readOfficialSend, type Spelling } from "../shared/send.ts";

/** "strict": exactly what the document says; "on": with what it lacks. */
export type Profile = "on" | "strict";

/** Said in the words of the document's own example. */
const missing = (name: string): Fault =>
  new Fault("invalid-params", `Invalid request: Missing required parameter: ${name}`, { field: name });

const SPELLING: Spelling = {
  origin: "langgraph",
  // A caller may speak as an agent: whoever calls is the caller.
  user: ["user", "agent"],
  loose: true,
  readPart,
  push: "pushNotificationConfig",
  readPush: createPushReader("langgraph"),
};
const NEEDED: Readonly<Record<Profile, readonly string[]>> = {
  on: ["parts"],
  strict: ["role", "parts", "messageId"],
};

export function readSend(call: WireCall, profile: Profile): { send: Send; view: View; blocking: boolean } {
  const params = needParams(call);
  const said = readObject(params, "message", "");
  if (!said) throw missing("message");
  for (const name of NEEDED[profile]) if (member(said, name) === undefined) throw missing(`message.${name}`);
  // The document knows nothing but the message; v0.3 has more.
  const known = profile === "strict" ? { message: said } : params;
  const { send, view, configuration } = readOfficialSend(call, known, SPELLING);
  return {
    send: defined<Send>({
      ...send,
      shown: true,
      stray: "new",
      taskId: send.taskId && withoutContext(send.taskId, send.contextId),
      thread: readThread(call.metadata),
      textInto: "messages",
    }),
    view,
    blocking: readFlag(configuration, "blocking", "configuration") ?? true,
  };
}

function readPart(from: JsonObject, path: string): Part {
  const kind = member(from, "kind");
  if (kind === "text" || kind === "data") return readKindPart(from, path);
  if (typeof kind !== "string") throw bad(`${path}.kind`, 'must be "text" or "data"');
  throw new Fault(
    "content-type-not-supported",
    `Only parts of the kinds "text" and "data" are taken here, not "${kind.slice(0, 100)}"`,
    { field: path },
  );
}

/** A task may be called by its id, or by its context and its id. */
function withoutContext(taskId: TaskId, contextId: ContextId | undefined): TaskId {
  const prefix = `${contextId}:`;
  return contextId !== undefined && taskId.startsWith(prefix)
    ? (taskId.slice(prefix.length) as TaskId)
    : taskId;
}

/** It only groups traces: whatever is wrong with it must not break the call. */
function readThread(metadata: Json | undefined): string | undefined {
  const thread = isObject(metadata) ? metadata.thread_id : undefined;
  if (typeof thread !== "string" || thread === "" || !thread.isWellFormed()) return undefined;
  return thread.length <= LIMITS.idCharsMax ? thread : undefined;
}

/** A task is asked for by its id and its context. */
export function needTask(call: WireCall): { readonly taskId: TaskId; readonly contextId: ContextId } {
  const { taskId, contextId } = readTask(call);
  if (contextId === undefined) throw missing("contextId");
  return { taskId, contextId };
}

export function readTask(call: WireCall): { readonly taskId: TaskId; readonly contextId?: ContextId } {
  const params = needParams(call);
  const id = readId(params, "id", "") as TaskId | undefined;
  if (id === undefined) throw missing("id");
  const contextId = readId(params, "contextId", "") as ContextId | undefined;
  return defined({ taskId: withoutContext(id, contextId), contextId });
}

/** No parameters at all are the same as none of those that are needed. */
const needParams = (call: WireCall): JsonObject => (call.params == null ? {} : readParams(call));

const HISTORY = { min: 0, max: 10 };

export function readView(call: WireCall): View {
  const historyMax = readCount(needParams(call), "historyLength", "", HISTORY);
  return defined<View>({ artifacts: true, historyMax });
}

/** What the caller wants to read must be said, and be what this method answers with. */
export function checkAccept(call: WireCall, isStream: boolean): void {
  const type = isStream ? "text/event-stream" : "application/json";
  const group = type.replace(/\/.*/, "/*");
  const taken = (call.headers.accept ?? "").split(",").map(one => (one.split(";")[0] as string).trim());
  if (taken.some(one => [type, group, "*/*"].includes(one.toLowerCase()))) return;
  throw new Fault("invalid-request", `${call.method.slice(0, 100)} needs the header Accept: ${type}`, {
    field: "Accept",
  });
}
