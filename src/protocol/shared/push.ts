import type { JsonObject } from "../../lib/json.ts";
import type { PushConfig, Step, Task } from "../../model/index.ts";
import type { EncodedPush } from "../../ports/index.ts";

/** What webhooks get, where dialects agree on it. */

export const toPush = (body: JsonObject | null, type = "application/json"): EncodedPush | null =>
  body && { type, body };

/** Whether a webhook that gets each step by itself hears of this one: of a bare message it does not, there is no task. */
export function isWanted(step: Step, config: PushConfig): boolean {
  const type = step.event?.type;
  if (type === "artifact") return config.events === "all";
  return type !== "reply" || step.task.reply === undefined;
}

/** A webhook that gets the whole task each time: of an artifact that grows it hears when the artifact is complete. */
export function toTaskPush(
  step: Step,
  config: PushConfig,
  writeTask: (task: Task) => JsonObject,
): EncodedPush | null {
  return isNews(step, config) ? toPush(writeTask(step.task)) : null;
}

function isNews(step: Step, config: PushConfig): boolean {
  const { event } = step;
  switch (event?.type) {
    case undefined:
    case "message":
    case "started":
    case "status":
      return true;
    case "artifact":
      return event.last && isWanted(step, config);
    case "reply":
      return isWanted(step, config);
    case "created":
    case "answered":
    case "incoming":
    case "noted":
    case "released":
    case "shown":
    case "cancel":
    case "usage":
      return false;
  }
}
