import type { JsonObject } from "../../lib/json.ts";
import type { PushConfig, Step, Task } from "../../model/index.ts";
import type { EncodedPush } from "../../ports/index.ts";

/** The body of a webhook delivery, as far as protocols have it in common. */

export const toEncodedPush = (body: JsonObject | null, type = "application/json"): EncodedPush | null =>
  body && { type, body };

/** For webhooks that get single events: whether the config selects this one. A bare message has no task and is never sent. */
export function isPushedStep(step: Step, config: PushConfig): boolean {
  const type = step.event?.type;
  if (type === "artifact") return config.events === "all";
  return type !== "reply" || step.task.reply === undefined;
}

/** For webhooks that get the whole task: at each change of the status, and when an artifact is complete. */
export function encodeTaskPush(
  step: Step,
  config: PushConfig,
  encodeTask: (task: Task) => JsonObject,
): EncodedPush | null {
  return isPushedTask(step, config) ? toEncodedPush(encodeTask(step.task)) : null;
}

function isPushedTask(step: Step, config: PushConfig): boolean {
  const { event } = step;
  switch (event?.type) {
    case undefined:
    case "message":
    case "started":
    case "status":
      return true;
    case "artifact":
      return event.last && isPushedStep(step, config);
    case "reply":
      return isPushedStep(step, config);
    case "created":
    case "answered":
    case "incoming":
    case "noted":
    case "chunk":
    case "released":
    case "shown":
    case "cancel":
    case "usage":
      return false;
  }
}
