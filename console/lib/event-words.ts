import type { EventRow } from "../../src/admin/api.ts";
import type { TaskEvent } from "../../src/model/event.ts";
import { sizeOf } from "./files.ts";
import { bytes, oneLine } from "./format.ts";
import { textIn } from "./task-log.ts";

/** One line about an event of the log. */
export function summaryOf({ event }: EventRow, max = 120): string {
  const one = event as unknown as TaskEvent;
  switch (one.type) {
    case "created":
      return `in ${one.origin}`;
    case "message":
    case "answered":
    case "incoming":
      return oneLine(textIn(one.message.parts), max) || `${one.message.parts.length} parts`;
    case "noted":
      return oneLine(`${one.note.kind} ${one.note.name}${one.note.threw ? ", threw" : ""}`, max);
    case "started":
      return `run ${one.attempt}`;
    case "status":
      return oneLine([one.state, one.message && textIn(one.message.parts)].filter(Boolean).join(": "), max);
    case "artifact": {
      const text = textIn(one.artifact.parts);
      const what =
        text ||
        one.artifact.parts.map(part => `${part.filename ?? part.kind} ${bytes(sizeOf(part))}`).join(", ");
      return oneLine(`${one.artifact.name ?? one.artifact.artifactId}${one.append ? " +" : ""} ${what}`, max);
    }
    case "reply":
      return oneLine(textIn(one.message.parts), max);
    case "cancel":
      return oneLine(one.reason ?? "", max);
    case "usage":
      return oneLine(
        Object.entries(one.usage)
          .map(([name, amount]) => `${name} ${amount}`)
          .join(", "),
        max,
      );
    default:
      return "";
  }
}
