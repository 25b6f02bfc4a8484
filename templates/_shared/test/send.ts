import type { MountedServer } from "dragoman";

interface Part {
  readonly text?: string;
}
interface Task {
  readonly id: string;
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly Part[] } };
  readonly artifacts?: readonly { readonly parts: readonly Part[] }[];
}

export interface Answer {
  readonly taskId: string;
  /** TASK_STATE_COMPLETED, TASK_STATE_INPUT_REQUIRED, … */
  readonly state: string;
  /** The text of the response. */
  readonly text: string;
  /** The message of the status: a question, or the reason of a failure. */
  readonly statusText: string;
}

/** Sends a message to an agent as any A2A client does. `taskId`: answers the question of this task. */
export async function send(
  server: MountedServer,
  agent: string,
  text: string,
  taskId?: string,
): Promise<Answer> {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], taskId };
  const response = await server.fetch(
    new Request(`http://localhost/agents/${agent}`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
    }),
  );
  const { result, error } = (await response.json()) as { result?: { task: Task }; error?: unknown };
  if (!result) throw new Error(JSON.stringify(error));
  const { id, status, artifacts = [] } = result.task;
  return {
    taskId: id,
    state: status.state,
    text: textOf(artifacts.flatMap(artifact => artifact.parts)),
    statusText: textOf(status.message?.parts ?? []),
  };
}

const textOf = (parts: readonly Part[]): string => parts.map(part => part.text ?? "").join("");
