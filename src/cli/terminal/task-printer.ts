import {
  appendParts,
  findNewParts,
  type NewParts,
  NOTHING_SEEN,
  type SeenParts,
} from "../../client/new-parts.ts";
import { isForPrograms } from "../../client/questions.ts";
import type { RemoteState, StreamResponse } from "../../client/types.ts";
import { type Artifact, type Message, type Part, textOf } from "../../model/index.ts";
import { describeFile, type FilePart, saveFile } from "./files.ts";
import type { Output } from "./output.ts";
import { oneLine } from "./terminal.ts";

export interface TaskPrinterParts {
  readonly output: Output;
  /** Save files here; undefined: only describe them. */
  readonly saveFolder: string | undefined;
  /** Print earlier messages of the task. */
  readonly history: boolean;
}

export interface TaskPrinter {
  show(item: StreamResponse): Promise<void>;
}

/** Prints a task as its events arrive: each part of an artifact once, even if snapshots repeat it. */
export function createTaskPrinter(parts: TaskPrinterParts): TaskPrinter {
  const { output } = parts;
  const seen = new Map<string, SeenParts>();
  let lastMessage: string | undefined;
  /** The text of the artifacts: some dialects repeat it in the message of the last status. */
  let response = "";
  let isHistoryShown = !parts.history;

  async function showArtifact(artifact: Artifact, append: boolean): Promise<void> {
    const known = seen.get(artifact.artifactId) ?? NOTHING_SEEN;
    const found = append ? appendParts(artifact.parts, known) : findNewParts(artifact.parts, known);
    if (known === NOTHING_SEEN || found.replaced) printHeading(output, artifact, found, seen.size > 0);
    seen.set(artifact.artifactId, found.seen);
    response = `${found.replaced ? "" : response}${textOf(found.parts)}`;
    for (const part of found.parts) await showPart(parts, part);
  }

  async function showStatus(state: RemoteState, message: Message | undefined): Promise<void> {
    const key = message && `${state} ${message.messageId} ${textOf(message.parts)}`;
    if (!message || key === lastMessage) return;
    lastMessage = key;
    if (state === "completed" && response !== "" && textOf(message.parts) === response) return;
    await showMessage(parts, state, message, seen.size > 0);
  }

  function showHistory(history: readonly Message[]): void {
    if (isHistoryShown) return;
    isHistoryShown = true;
    for (const message of history) output.note(`${message.role}: ${summarizeParts(message.parts)}`);
  }

  return {
    async show(item) {
      if (item.kind === "message") return printMessage(parts, item.message);
      if (item.kind === "status") return showStatus(item.state, item.message);
      if (item.kind === "artifact") return showArtifact(item.artifact, item.append);
      showHistory(item.task.history);
      for (const artifact of item.task.artifacts) await showArtifact(artifact, false);
      await showStatus(item.task.state, item.task.message);
    },
  };
}

/** The first artifact needs no heading if it is text: it is the response. */
function printHeading(output: Output, artifact: Artifact, found: NewParts, hasOthers: boolean): void {
  if (hasOthers || found.replaced) output.end();
  const name = oneLine(artifact.name ?? "");
  const isText = found.parts.every(part => part.kind === "text");
  if (found.replaced) output.note(`${name || "artifact"} (replaced)`);
  else if (name && (hasOthers || !isText)) output.note(name);
}

/** The message of a status is a note, unless it is a question or the only response of a completed task. */
async function showMessage(
  parts: TaskPrinterParts,
  state: RemoteState,
  message: Message,
  hasArtifacts: boolean,
): Promise<void> {
  const isResponse =
    state === "input-required" || state === "auth-required" || (state === "completed" && !hasArtifacts);
  if (isResponse) return printMessage(parts, { ...message, parts: forPeople(message.parts) });
  const text = summarizeParts(message.parts);
  if (state === "failed" || state === "rejected") parts.output.alert(text);
  else parts.output.note(text);
}

/** Questions and links are in the text as well; a message without text is shown as it is. */
function forPeople(parts: readonly Part[]): readonly Part[] {
  return parts.some(part => part.kind === "text") ? parts.filter(part => !isForPrograms(part)) : parts;
}

async function printMessage(parts: TaskPrinterParts, message: Message): Promise<void> {
  parts.output.end();
  for (const part of message.parts) await showPart(parts, part);
  parts.output.end();
}

async function showPart(parts: TaskPrinterParts, part: Part): Promise<void> {
  const { output, saveFolder } = parts;
  if (part.kind === "text") return output.text(part.text);
  if (part.kind === "data") return output.line(JSON.stringify(part.data, null, 2));
  output.line(`[${oneLine(describeFile(part))}]`);
  if (part.kind === "bytes" && saveFolder !== undefined)
    output.note(`saved as ${await saveFile(saveFolder, part)}`);
}

/** Parts on one line. */
export function summarizeParts(parts: readonly Part[]): string {
  return parts.map(summarizePart).filter(Boolean).join(" ");
}

function summarizePart(part: Part): string {
  if (part.kind === "text") return oneLine(part.text);
  return part.kind === "data" ? JSON.stringify(part.data) : `[${oneLine(describeFile(part as FilePart))}]`;
}
