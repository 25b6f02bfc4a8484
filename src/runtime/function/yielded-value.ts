/** Whether something that a function said, and that `ctx` did not make, is an event. */
import type { Content } from "../../agent/definition.ts";
import type { Message, TaskState } from "../../model/index.ts";
import { TASK_STATES } from "../../model/index.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { describe, toParts } from "./content.ts";

/** Members that a hand-made event left out get their defaults. */
export function toEvent(value: unknown): AgentEvent {
  const event = value as AgentEvent;
  switch (event?.type) {
    case "artifact":
      return toArtifactEvent(event);
    case "status":
      // What only the server can say.
      if (!TASK_STATES.includes(event.state) || (event.state as TaskState) === "submitted")
        throw new TypeError(`An agent cannot report the state ${describe(event.state)}`);
      return event.message ? { ...event, message: toMessage(event.message) } : event;
    case "reply":
      return { type: "reply", message: toMessage(event.message) };
    case "usage":
      if (Object.values(event.usage ?? { none: null }).every(Number.isFinite)) return event;
      throw new TypeError("The counters of a usage event must be numbers");
    default:
      throw new TypeError(
        `An agent may yield strings and what ctx.text(), ctx.data(), ctx.status(), … return; it yielded ${describe(value)}`,
      );
  }
}

function toArtifactEvent(event: AgentEvent & { type: "artifact" }): AgentEvent {
  const { artifact } = event;
  if (typeof artifact?.artifactId !== "string" || artifact.artifactId === "")
    throw new TypeError("An artifact event needs an artifact with an artifactId");
  return {
    type: "artifact",
    artifact: { ...artifact, parts: toParts(artifact.parts as Content) },
    append: event.append ?? false,
    last: event.last ?? false,
    join: event.join ?? false,
    ...(event.metadata && { metadata: event.metadata }),
  };
}

function toMessage(message: Message): Message {
  if (typeof message?.messageId !== "string" || message.messageId === "")
    throw new TypeError("A message needs a messageId; ctx.status(), ctx.ask() and ctx.reply() give it one");
  return { ...message, role: "agent", parts: toParts(message.parts as Content) };
}
