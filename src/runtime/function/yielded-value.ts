/** Checks events that a function yields without having created them with `ctx`. */
import type { Content } from "../../agent/content.ts";
import type { Message, TaskState } from "../../model/index.ts";
import { TASK_STATES } from "../../model/index.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { describeValue } from "../shared/describe-value.ts";
import { toParts } from "./content.ts";

/** Adds default members. */
export function toEvent(value: unknown): AgentEvent {
  const event = value as AgentEvent;
  switch (event?.type) {
    case "artifact":
      return toArtifactEvent(event);
    case "status":
      // Only the server sets this state.
      if (!TASK_STATES.includes(event.state) || (event.state as TaskState) === "submitted")
        throw new TypeError(`An agent cannot report the state ${describeValue(event.state)}`);
      return event.message ? { ...event, message: toMessage(event.message) } : event;
    case "reply":
      return { type: "reply", message: toMessage(event.message) };
    case "chunk":
      return event;
    case "usage":
      if (Object.values(event.usage ?? { none: null }).every(Number.isFinite)) return event;
      throw new TypeError("The counters of a usage event must be numbers");
    default:
      throw new TypeError(
        `An agent may yield strings and the results of ctx.text(), ctx.data(), ctx.status(), …; it yielded ${describeValue(value)}`,
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
    throw new TypeError("A message needs a messageId; ctx.status(), ctx.ask() and ctx.reply() set it");
  return { ...message, role: "agent", parts: toParts(message.parts as Content) };
}
