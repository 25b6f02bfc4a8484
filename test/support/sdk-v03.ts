/** Short forms of requests and results of the official client 0.3.14. */
import type {
  Message,
  MessageSendConfiguration,
  MessageSendParams,
  Part,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from "a2a-v03";

type StreamEvent = Message | Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent;

let messages = 0;
export function sendParams(
  text: string,
  message: Partial<Message> = {},
  configuration?: MessageSendConfiguration,
): MessageSendParams {
  return {
    message: {
      kind: "message",
      messageId: `v03-${++messages}`,
      role: "user",
      parts: [{ kind: "text", text }],
      ...message,
    },
    ...(configuration && { configuration }),
  };
}

export function asTask(answer: Task | Message): Task {
  if (answer.kind !== "task") throw new Error("a message, where a task was expected");
  return answer;
}

export const textOf = (parts: readonly Part[] = []): string =>
  parts.map(part => (part.kind === "text" ? part.text : "")).join("");
export const resultOf = (task: Task): string =>
  (task.artifacts ?? []).map(artifact => textOf(artifact.parts)).join("|");
export const streamed = (events: readonly StreamEvent[]): string =>
  events.map(event => (event.kind === "artifact-update" ? textOf(event.artifact.parts) : "")).join("");
/** The state and the `final` of the event that ended a stream. */
export function endOf(events: readonly StreamEvent[]): [state: string, final: boolean] | undefined {
  const last = events.at(-1);
  return last?.kind === "status-update" ? [last.status.state, last.final] : undefined;
}

export async function firstTask(stream: AsyncGenerator<StreamEvent>): Promise<Task> {
  const { value } = await stream.next();
  if (value?.kind !== "task") throw new Error("the first event is not the task");
  return value;
}
