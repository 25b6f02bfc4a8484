import { type ClientDialect, USUAL } from "../../client/client-protocol.ts";
import * as read from "../../client/read.ts";
import type { Draft, Item } from "../../client/types.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { defined } from "../../lib/json.ts";
import { readPart, writePart } from "../a2a-v1/client.ts";
import { STATES } from "../a2a-v03/client.ts";

/** simple_a2a: the methods of v0.1, the parts of v1, and states with underscores. */

const SPELLING: read.Spelling = {
  states: Object.fromEntries(Object.entries(STATES).map(([ours, state]) => [ours.replace("-", "_"), state])),
  readPart,
};

function writeSend(draft: Draft): JsonObject {
  const parts = draft.parts.map(part =>
    part.kind === "text" ? { ...writePart(part), kind: "text" } : writePart(part),
  );
  const message = defined<JsonObject>({
    messageId: draft.messageId,
    role: "user",
    parts,
    contextId: draft.contextId,
    metadata: draft.metadata,
  });
  const named = draft.taskId === undefined ? {} : { id: draft.taskId };
  return { ...named, message, ...read.callMetadata(draft) };
}

function readItem(result: Json): Item {
  const from = read.asObject(result);
  if (from.type === "TaskArtifactUpdateEvent") return read.readArtifactUpdate(SPELLING, from);
  if (from.type !== "TaskStatusUpdateEvent") return { kind: "task", task: read.readTask(SPELLING, from) };
  const update = read.readStatusUpdate(SPELLING, from);
  if (!read.has(from, "artifacts")) return update;
  return { kind: "task", task: read.readTask(SPELLING, { ...from, id: from.taskId ?? "" }) };
}

export const simple: ClientDialect = {
  ...USUAL,
  version: "1.0",
  title: "simple_a2a",
  rejoins: "replay",
  writeTask: ({ taskId }) => ({ taskId }),
  methods: {
    send: "tasks/send",
    stream: "tasks/sendSubscribe",
    get: "tasks/get",
    cancel: "tasks/cancel",
    subscribe: "tasks/resubscribe",
  },
  writeSend,
  readItem,
  readTask: result => read.readTask(SPELLING, result),
};
