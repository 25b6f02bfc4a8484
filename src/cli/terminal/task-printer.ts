import { NOTHING_SEEN, type SeenParts, type NewParts, appendParts, findNewParts } from "../../client/new-parts.ts";
import type { StreamResponse, RemoteState } from "../../client/types.ts";
import { type Artifact, type Message, type Part, textOf } from "../../model/index.ts";
import { describeFile, type FilePart, saveFile } from "./files.ts";
import type { Output } from "./output.ts";
import { oneLine } from "./terminal.ts";

export interface TaskPrinterParts {
  readonly output: Output;
  /** Where files are saved; undefined: they are only described. */
  readonly saveFolder: string | undefined;
  /** Whether what was said before is shown too. */
  readonly history: boolean;
}

export interface TaskPrinter {
  show(item: StreamResponse): Promise<void>;
}

/** Shows a task as it happens: each piece of an artifact once, however often a snapshot repeats it. */
export function createTaskPrinter(parts: TaskPrinterParts): TaskPrinter {
  const { output } = parts;
  const seen = new Map<string, SeenParts>();
  let lastMessage: string | undefined;
  let historyShown = !parts.history;

  async function showArtifact(artifact: Artifact, append: boolean): Promise<void> {
    const known = seen.get(artifact.artifactId) ?? NOTHING_SEEN;
    const news = append ? appendParts(artifact.parts, known) : findNewParts(artifact.parts, known);
    if (known === NOTHING_SEEN || news.replaced) headArtifact(output, artifact, news, seen.size > 0);
    seen.set(artifact.artifactId, news.seen);
    for (const part of news.parts) await showPart(parts, part);
  }

  async function showStatus(state: RemoteState, message: Message | undefined): Promise<void> {
    const key = message && `${state} ${message.messageId} ${textOf(message.parts)}`;
    if (!message || key === lastMessage) return;
    lastMessage = key;
    await showMessage(parts, state, message, seen.size > 0);
  }

  function showHistory(history: readonly Message[]): void {
    if (historyShown) return;
    historyShown = true;
    for (const message of history) output.note(`${message.role}: ${summarizeParts(message.parts)}`);
  }

  return {
    async show(item) {
      if (item.kind === "message") return sayMessage(parts, item.message);
      if (item.kind === "status") return showStatus(item.state, item.message);
      if (item.kind === "artifact") return showArtifact(item.artifact, item.append);
      showHistory(item.task.history);
      for (const artifact of item.task.artifacts) await showArtifact(artifact, false);
      await showStatus(item.task.state, item.task.message);
    },
  };
}

/** A first artifact of text needs no heading: it is the answer. */
function headArtifact(output: Output, artifact: Artifact, news: NewParts, others: boolean): void {
  if (others || news.replaced) output.end();
  const name = oneLine(artifact.name ?? "");
  const isPlain = news.parts.every(part => part.kind === "text");
  if (news.replaced) output.note(`${name || "artifact"} (replaced)`);
  else if (name && (others || !isPlain)) output.note(name);
}

/** What a status says belongs beside the answer; only if there is no other answer it is the answer. */
async function showMessage(
  parts: TaskPrinterParts,
  state: RemoteState,
  message: Message,
  answered: boolean,
): Promise<void> {
  const isAnswer =
    state === "input-required" || state === "auth-required" || (state === "completed" && !answered);
  if (isAnswer) return sayMessage(parts, message);
  const text = summarizeParts(message.parts);
  if (state === "failed" || state === "rejected") parts.output.alert(text);
  else parts.output.note(text);
}

async function sayMessage(parts: TaskPrinterParts, message: Message): Promise<void> {
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

/** Parts in one line. */
export function summarizeParts(parts: readonly Part[]): string {
  return parts.map(summary).filter(Boolean).join(" ");
}

function summary(part: Part): string {
  if (part.kind === "text") return oneLine(part.text);
  return part.kind === "data" ? JSON.stringify(part.data) : `[${oneLine(describeFile(part as FilePart))}]`;
}
