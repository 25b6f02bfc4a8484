import { type ClientDialect, USUAL } from "../../client/client-protocol.ts";
import { kindOfOldNumber } from "../../client/faults.ts";
import * as read from "../../client/read.ts";
import type { Draft, Item, RemoteTask } from "../../client/types.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { defined } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { readPart, STATES, writePart as writeKindPart } from "../a2a-v03/client.ts";

/** What v0.1 says, and the dialects that grew from it: parts tell their `type`, callers name their tasks. */

const SPELLING: read.Spelling = { states: STATES, readPart, context: "sessionId" };

function writePart(part: Part): JsonObject {
  const { kind, ...said } = writeKindPart(part);
  return { type: kind ?? "text", ...said };
}

/** The caller's id of the task: a new one is called like its first message, so that a repeated call is the same one. */
const idOf = (draft: Draft): string => draft.taskId ?? draft.messageId;

function writeSend(draft: Draft): JsonObject {
  return defined<JsonObject>({
    id: idOf(draft),
    sessionId: draft.contextId,
    message: defined<JsonObject>({
      role: "user",
      parts: draft.parts.map(writePart),
      metadata: draft.metadata,
    }),
    metadata: undefined,
    ...read.callMetadata(draft),
  });
}

/** A status that comes with artifacts is all there is to know: the answer to whoever comes back to a stream. */
function readItem(result: Json): Item {
  const from = read.asObject(result);
  if (read.has(from, "artifact")) return readNumbered(from);
  const isUpdate = read.has(from, "final") && !read.has(from, "artifacts");
  if (!isUpdate) return { kind: "task", task: readTask(from) };
  const { taskId: _, ...status } = read.readStatusUpdate(SPELLING, from);
  return { ...status, taskId: read.asText(from.id) ?? "" };
}

/** Whether an artifact is added to, and whether it is whole, stands inside it. */
function readNumbered(from: JsonObject): Item {
  const inside = read.asObject(from.artifact);
  const { append, lastChunk } = inside;
  const update = read.readArtifactUpdate(SPELLING, {
    ...from,
    append: append ?? false,
    lastChunk: lastChunk ?? false,
  });
  return { ...update, taskId: read.asText(from.id) ?? "" };
}

const readTask = (result: Json): RemoteTask => read.readTask(SPELLING, result);

export const v01: ClientDialect = {
  ...USUAL,
  version: undefined,
  title: "A2A 0.1",
  methods: {
    send: "tasks/send",
    stream: "tasks/sendSubscribe",
    get: "tasks/get",
    cancel: "tasks/cancel",
    subscribe: "tasks/resubscribe",
  },
  writeSend,
  readItem,
  readTask,
  kindOfNumber: kindOfOldNumber,
};

/** Every frame is the whole task. Metadata are strings; where there is no context, a task is all there is. */
export const orloj: ClientDialect = {
  ...v01,
  title: "Orloj",
  bareFrames: true,
  rejoins: "snapshot",
  writeSend: draft => {
    const { sessionId: _, metadata, ...rest } = writeSend(draft);
    const said = Object.entries(read.asObject(metadata)).filter(([, value]) => typeof value === "string");
    return said.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(said) };
  },
  repeatsWords: true,
  readItem: result => ({ kind: "task", task: readTask(result) }),
};
