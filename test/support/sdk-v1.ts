/** Short forms of requests and results of the official client 1.3.0. */
import {
  type Message,
  SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskState,
} from "@a2a-js/sdk";

let messages = 0;
export function sendRequest(
  text: string,
  message: object = {},
  configuration: object = {},
): SendMessageRequest {
  return SendMessageRequest.fromJSON({
    message: { messageId: `v1-${++messages}`, role: "ROLE_USER", parts: [{ text }], ...message },
    configuration,
  });
}

export function asTask(answer: Task | Message): Task {
  if ("messageId" in answer) throw new Error("a message, where a task was expected");
  return answer;
}

export const stateOf = (task: Task): TaskState | undefined => task.status?.state;
export const textOf = (parts: Message["parts"] = []): string =>
  parts.map(part => (part.content?.$case === "text" ? part.content.value : "")).join("");
export const resultOf = (task: Task): string =>
  task.artifacts.map(artifact => textOf(artifact.parts)).join("|");
export const caseOf = (event: StreamResponse): string | undefined => event.payload?.$case;
export const lastState = (events: readonly StreamResponse[]): TaskState | undefined => {
  const last = events.at(-1)?.payload;
  return last?.$case === "statusUpdate" ? last.value.status?.state : undefined;
};
export const streamed = (events: readonly StreamResponse[]): string =>
  events
    .map(({ payload }) => (payload?.$case === "artifactUpdate" ? textOf(payload.value.artifact?.parts) : ""))
    .join("");

export const request = (id: string, more: object = {}) => ({ tenant: "", id, ...more });
export const byId = (id: string) => ({ tenant: "", id, metadata: undefined });

export async function firstTask(stream: AsyncGenerator<StreamResponse>): Promise<Task> {
  const { value } = await stream.next();
  if (value?.payload?.$case !== "task") throw new Error("the first event is not the task");
  return value.payload.value;
}
