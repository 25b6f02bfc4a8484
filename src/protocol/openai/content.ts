import {
  type Artifact,
  Fault,
  type Message,
  mediaTypeOf,
  type Part,
  type Task,
  textOf,
  type Usage,
} from "../../model/index.ts";
import {
  artifactsOf,
  type DataValue,
  type FileOutput,
  isReasoning,
  messageOf,
  SEPARATOR,
  toFileUrl,
} from "../shared/turn-output.ts";

/** The output of a turn as text: the APIs have no parts for files and data that an agent returns. */

/** Markdown: chat windows show pictures, and offer other files as links. Data is JSON. */
export function toParagraph(part: FileOutput | DataValue): string {
  if (part.kind === "data") return JSON.stringify(part.data);
  const name = (part.filename ?? "file").replace(/[[\]]/g, "");
  const mark = mediaTypeOf(part).startsWith("image/") ? "!" : "";
  return `${mark}[${name}](${toFileUrl(part)})`;
}

/** Text is joined; a file or data is a paragraph. */
function toContent(parts: readonly Part[]): string {
  let content = "";
  let isText = true;
  for (const part of parts) {
    if (content !== "" && !(isText && part.kind === "text")) content += SEPARATOR;
    isText = part.kind === "text";
    content += part.kind === "text" ? part.text : toParagraph(part);
  }
  return content;
}

/** A text with an id: one item of a response. */
export interface OutputItem {
  readonly id: string;
  readonly kind: "text" | "reasoning";
  readonly text: string;
}

/** The output of the current turn: its artifacts, then its last message. */
export function outputOf(task: Task): readonly OutputItem[] {
  const artifacts = artifactsOf(task).map(toItem);
  const message = messageOf(task);
  // The reason of a failure is the error, not output.
  const said = message && task.status.state !== "failed" ? [toMessageItem(message)] : [];
  return [...artifacts, ...said].filter(({ text }) => text !== "");
}

const toItem = (artifact: Artifact): OutputItem => ({
  id: artifact.artifactId,
  kind: isReasoning(artifact) ? "reasoning" : "text",
  text: toContent(artifact.parts),
});

const toMessageItem = (message: Message): OutputItem => ({
  id: message.messageId,
  kind: "text",
  text: textOfMessage(message),
});

/** Questions with ids have data for programs beside the text. */
const textOfMessage = ({ parts }: Message): string => textOf(parts) || toContent(parts);

/** The last message of the turn. */
export function toMessageText(task: Task): string {
  const message = messageOf(task);
  return message ? textOfMessage(message) : "";
}

/** The one value of a structured answer: the last data of the turn, or text that is JSON. */
export function toJsonText(task: Task): string {
  const data = artifactsOf(task)
    .flatMap(({ parts }) => parts)
    .findLast(part => part.kind === "data");
  if (data) return JSON.stringify(data.data);
  const text = outputOf(task)
    .filter(({ kind }) => kind === "text")
    .map(item => item.text)
    .join("");
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new Fault("invalid-agent-response", "The agent's answer is not JSON", { taskId: task.id });
  }
}

/** Counters in the words of both APIs; undefined: the agent has reported none. */
export function toTokens(usage: Usage | undefined) {
  if (!usage) return undefined;
  const {
    inputTokens = 0,
    outputTokens = 0,
    cachedInputTokens: cached = 0,
    reasoningTokens: reasoning = 0,
  } = usage;
  const total = Math.max(usage.totalTokens ?? 0, inputTokens + outputTokens);
  return { input: inputTokens, output: outputTokens, total, cached, reasoning };
}
