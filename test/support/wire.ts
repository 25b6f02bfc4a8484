/** Short forms of v1 and v0.3 responses and events, for tests that look at the wire. */
import type { SseEvent } from "./client.ts";

// biome-ignore-start lint/suspicious/noExplicitAny: a test looks at whatever came back.

/** The state of a task or of an event, in v0.3's spelling in any dialect; undefined: it has none. */
export function stateOf(body: any): string | undefined {
  const result = body?.result ?? body;
  const holder = result?.task ?? result?.statusUpdate ?? result;
  const state: string | undefined = holder?.status?.state;
  return state?.replace("TASK_STATE_", "").replace("_", "-").toLowerCase();
}

export const taskOf = (body: any): any => body?.result?.task ?? body?.result;

/** All text of all artifacts of a task. */
export function textOf(body: any): string {
  const task = taskOf(body);
  return (task?.artifacts ?? []).map((artifact: any) => partsText(artifact.parts)).join("");
}

export const partsText = (parts: readonly any[] = []): string => parts.map(part => part.text ?? "").join("");

/** An event without its dialect: its kind, and its text. */
export function summaryOf(event: SseEvent): { id: number; what: string; text: string; append?: boolean } {
  const result = event.data.result;
  const artifact = result?.artifactUpdate ?? (result?.kind === "artifact-update" ? result : undefined);
  const id = Number(event.id);
  if (artifact)
    return {
      id,
      what: "artifact",
      text: partsText(artifact.artifact.parts),
      append: artifact.append === true,
    };
  const status = result?.statusUpdate ?? (result?.kind === "status-update" ? result : undefined);
  if (status) return { id, what: `status ${stateOf(status)}`, text: partsText(status.status.message?.parts) };
  const task = result?.task ?? (result?.kind === "task" ? result : undefined);
  if (task) return { id, what: `task ${stateOf(task)}`, text: textOf({ result: task }) };
  return { id, what: "other", text: JSON.stringify(event.data) };
}

/** The text of a reader that folds artifact events. */
export function foldText(events: readonly SseEvent[], start = ""): string {
  let text = start;
  for (const event of events.map(summaryOf)) {
    if (event.what.startsWith("task ")) text = event.text;
    if (event.what === "artifact") text = event.append ? text + event.text : event.text;
  }
  return text;
}

export const idsOf = (events: readonly SseEvent[]): number[] => events.map(event => Number(event.id));

export const isAscending = (ids: readonly number[]): boolean =>
  ids.every((id, i) => Number.isInteger(id) && (i === 0 || id > (ids[i - 1] as number)));
// biome-ignore-end lint/suspicious/noExplicitAny: a test looks at whatever came back.
