import type { Json, JsonObject } from "../../lib/json.ts";
import { type Part, TASK_STATES, type View } from "../../model/index.ts";
import type { Send, WireCall } from "../../ports/index.ts";
import { createPushReader, readData, readFile } from "../shared/kind-read.ts";
import {
  bad,
  isObject,
  member,
  needObject,
  readFlag,
  readMetadata,
  readObject,
  readText,
} from "../shared/read.ts";
import { readSend, type Spelling } from "../shared/send.ts";
import { PROTO_ROLES, PROTO_STATES } from "./names.ts";

/** Parameters as the ProtoJSON of v0.3's definition has them: other names than in its JSON schema, and no `kind`. */

/** R9: the form of the message is the form of the call; where there is no message, this one is usual. */
export function isProto(params: JsonObject): boolean {
  const { message } = params;
  if (!isObject(message)) return true;
  const { role } = message;
  if (member(message, "content") !== undefined || typeof role === "number") return true;
  return typeof role === "string" && role.startsWith("ROLE_");
}

export function readProtoSend(
  call: WireCall,
  params: JsonObject,
): { send: Send; view: View; blocking: boolean } {
  const { send, view, configuration } = readSend(call, withOneName(params), SPELLING);
  // ProtoJSON leaves out what is false: a configuration without the word says it.
  const isSilent = readObject(params, "configuration", "") === undefined;
  return {
    send,
    view,
    blocking: isSilent || (readFlag(configuration, "blocking", "configuration") ?? false),
  };
}

const SPELLING: Spelling = {
  origin: "v03",
  user: [PROTO_ROLES.user, 1],
  parts: "content",
  readPart,
  push: "pushNotification",
  readPush: createPushReader("v03"),
};

/** The definition calls the message `request`; and `content` is `parts` for those who know the schema better. */
function withOneName(params: JsonObject): JsonObject {
  const message = params.message ?? params.request;
  if (!isObject(message)) return params;
  return { ...params, message: { content: message.parts ?? null, ...message } };
}

const CONTENTS = ["text", "file", "data"] as const;

function readPart(from: JsonObject, path: string): Part {
  const there = CONTENTS.filter(name => member(from, name) !== undefined);
  if (there.length !== 1) throw bad(path, `must have exactly one of ${CONTENTS.join(", ")}`);
  const metadata = readMetadata(from, path);
  switch (there[0] as (typeof CONTENTS)[number]) {
    case "text": {
      const text = readText(from, "text", path) as string;
      return metadata ? { kind: "text", text, metadata } : { kind: "text", text };
    }
    case "file":
      return readFile(needObject(from, "file", path), `${path}.file`, metadata, FILE);
    case "data":
      return readData(needObject(from, "data", path), `${path}.data`, metadata);
  }
}

const FILE = { bytes: ["fileWithBytes"], uri: "fileWithUri" };

/** Our word for a state, whichever of its names it has; what is none is left to be refused. */
export const toState = (name: Json): Json =>
  TASK_STATES.find(state => PROTO_STATES[state] === name) ??
  (name === "TASK_STATE_CANCELED" ? "canceled" : name);
