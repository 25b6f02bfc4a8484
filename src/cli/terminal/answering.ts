/** Sends messages, and asks the user for as long as the agent asks. */
import { CLIENT_LIMITS } from "../../client/limits.ts";
import { answers, readAuthorization, readQuestions } from "../../client/questions.ts";
import { subscribe } from "../../client/resume.ts";
import { sleep } from "../../client/sleep.ts";
import type { OutgoingMessage } from "../../client/types.ts";
import type { Json } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { CLI_LIMITS } from "../limits.ts";
import { type AgentSession, printResponses, resumeStream, toStream } from "./session.ts";
import type { Terminal } from "./terminal.ts";

export type Draft = Omit<OutgoingMessage, "messageId">;

/** `waiting`: the agent asked, and there is no answer. */
export type TurnEnd = "ended" | "waiting";

export async function sendAndAnswer(
  terminal: Terminal,
  session: AgentSession,
  first: Draft,
  stream: boolean,
): Promise<TurnEnd> {
  let draft: Draft | undefined = first;
  for (let turn = 0; draft !== undefined && turn < CLI_LIMITS.turnsMax; turn++) {
    await send(terminal, session, draft, stream);
    const { state } = session.progress;
    if (state !== "input-required" && state !== "auth-required") return "ended";
    if (!terminal.interactive || session.json) return "waiting";
    const parts: readonly Part[] | null =
      state === "input-required" ? await answer(terminal, session) : await authorize(terminal, session);
    if (parts === null) return "waiting";
    const { taskId, contextId } = session.progress;
    const target = { ...(taskId !== undefined && { taskId }), ...(contextId !== undefined && { contextId }) };
    draft = parts.length === 0 ? undefined : { parts, ...target };
    if (!draft) await follow(session);
  }
  return "ended";
}

async function send(terminal: Terminal, session: AgentSession, draft: Draft, stream: boolean): Promise<void> {
  const { agent, signal } = session;
  session.progress = draft.taskId === undefined ? {} : { taskId: draft.taskId };
  session.question = undefined;
  const message = { ...draft, messageId: terminal.newId() };
  const responses =
    stream && agent.streaming
      ? // Without progress, also in a follow-up: a message that did not arrive must not be taken for a lost stream.
        resumeStream(session, agent.stream(message, signal), "settled", {})
      : toStream(agent.send(message, signal));
  await printResponses(session, responses);
}

/** One prompt, or one for each question of `ctx.askAll`; null: the user gave no answer. */
async function answer(terminal: Terminal, session: AgentSession): Promise<readonly Part[] | null> {
  const questions = readQuestions(session.question);
  if (questions.length < 2) {
    const text = await terminal.ask("> ", session.signal);
    return text?.trim() ? [{ kind: "text", text }] : null;
  }
  const values: Record<string, Json> = {};
  for (const { id, question } of questions) {
    const value = await terminal.ask(`${question} `, session.signal);
    if (!value?.trim()) return null;
    values[id] = value;
  }
  return [answers(values)];
}

/** Waits until the user has authorized in a browser, or asks for the secret; null: neither happened. */
async function authorize(terminal: Terminal, session: AgentSession): Promise<readonly Part[] | null> {
  const request = readAuthorization(session.question);
  const { output, signal, agent, progress } = session;
  if (request?.url !== undefined) {
    output.note(
      `Open ${request.url} in a browser; this command waits (Ctrl-C stops waiting, the task stays)`,
    );
    output.startWaiting("waiting for the authorization");
    for (;;) {
      const { task } = await agent.get(
        { taskId: progress.taskId ?? "", contextId: progress.contextId },
        signal,
      );
      if (task.state !== "auth-required") return [];
      await sleep(CLIENT_LIMITS.pollMs, signal);
    }
  }
  const token = await terminal.askSecret(`${request?.name ?? "credentials"} (not shown): `, signal);
  return token?.trim() ? [{ kind: "data", data: { credentials: token.trim() } }] : null;
}

/** The rest of a task that continues by itself. */
async function follow(session: AgentSession): Promise<void> {
  const { agent, progress, signal } = session;
  const { eventId: _, state: __, ...start } = progress;
  // Also a task that has ended meanwhile, which servers do not stream.
  const events = subscribe(agent, start, { signal, sleep });
  await printResponses(session, resumeStream(session, events, "settled", start));
}
