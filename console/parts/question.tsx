import { useState } from "preact/hooks";
import type { TaskRow } from "../../src/admin/api.ts";
import { newId, sendMessage } from "../lib/a2a.ts";
import { findAgent, me } from "../lib/admin.ts";
import { reasonOf } from "../lib/api.ts";
import { oneLine, visible } from "../lib/format.ts";
import { type Status, textIn } from "../lib/task-log.ts";
import { toast } from "../lib/toast.ts";
import type { V1Part } from "../lib/v1.ts";
import { PartFrame } from "./artifact.tsx";
import { Button, Icon } from "./basics.tsx";
import { Markdown } from "./markdown.tsx";

export interface Asked {
  readonly id: string;
  readonly question: string;
}
interface Authorization {
  readonly name: string;
  readonly scheme: string;
  readonly scopes: readonly string[];
  readonly url: string | undefined;
}

type Parts = NonNullable<Status["message"]>["parts"];
const dataIn = (parts: Parts): readonly Record<string, unknown>[] =>
  parts.flatMap(part =>
    part.kind === "data" && typeof part.data === "object" && part.data !== null && !Array.isArray(part.data)
      ? [part.data as Record<string, unknown>]
      : [],
  );

/** The questions of `askAll`, by the ids that wait for answers. */
export function askedIn({ asks, message }: Status): readonly Asked[] {
  const data = dataIn(message?.parts ?? []);
  return asks.map(id => ({ id, question: String(data.find(one => one.id === id)?.question ?? id) }));
}

function authorizationIn({ auth, message }: Status): Authorization | undefined {
  const found = dataIn(message?.parts ?? []).find(one => typeof one.authorization === "object")
    ?.authorization as Record<string, unknown> | undefined;
  if (!auth && !found) return undefined;
  const url = typeof found?.url === "string" && /^https?:\/\//i.test(found.url) ? found.url : undefined;
  const scopes = Array.isArray(found?.scopes) ? found.scopes.map(String) : [];
  return {
    name: auth?.name ?? String(found?.name ?? ""),
    scheme: auth?.scheme ?? String(found?.scheme ?? ""),
    scopes,
    url,
  };
}

/** Only the caller of a task can answer it: an operator sees the questions of others. */
export const isMine = (row: TaskRow): boolean => row.principal === me.value?.principal;

/** Sends an answer; true: it is recorded. */
export async function answer(row: TaskRow, parts: readonly V1Part[]): Promise<boolean> {
  try {
    const message = {
      messageId: newId(),
      role: "ROLE_USER" as const,
      parts,
      taskId: row.id,
      contextId: row.contextId,
    };
    await sendMessage({
      agent: row.agent,
      message,
      key: newId(),
      streaming: findAgent(row.agent)?.streaming ?? true,
      signal: new AbortController().signal,
    });
    return true;
  } catch (error) {
    toast(`The answer was not sent: ${reasonOf(error)}`, { isError: true });
    return false;
  }
}

export interface QuestionProps {
  readonly row: TaskRow;
  readonly status: Status;
  readonly answered?: ReadonlySet<string>;
  readonly isOpen: boolean;
  readonly onAnswer?: (parts: readonly V1Part[]) => unknown;
}

/** What an agent asks, with the form that answers it. */
export function Question({ row, status, answered, isOpen, onAnswer }: QuestionProps) {
  const isAuth = status.state === "auth-required";
  const look = isAuth ? "auth" : "input";
  const asked = askedIn(status);
  const authorization = isAuth ? authorizationIn(status) : undefined;
  const text = status.message ? textIn(status.message.parts) : "";
  const words = isAuth && authorization ? (text.split(/\n(?:Open |To authorize)/)[0] ?? text) : text;
  const canAnswer = isOpen && isMine(row);
  const send = onAnswer ?? ((parts: readonly V1Part[]) => answer(row, parts));
  return (
    <div class={`question is-${look}`}>
      <span class={`st is-${look}`}>
        <Icon name={look} />
        {oneLine(row.agent, 60)}{" "}
        {isAuth ? "needs authorization" : status.asksToRepeat ? "was interrupted" : "asks"}
      </span>
      {asked.length > 1 && canAnswer ? null : (
        <Markdown text={words || (isAuth ? "Authorization required" : "Input required")} />
      )}
      {status.message?.parts.map(
        (part, at) =>
          (part.kind === "bytes" || part.kind === "url") && <PartFrame key={at} part={part} name="file" />,
      )}
      {canAnswer && asked.length > 1 && (
        <AskAllForm asked={asked} answered={answered ?? new Set()} onSend={send} />
      )}
      {canAnswer && authorization && <AuthorizationForm authorization={authorization} onSend={send} />}
      {isOpen && !isMine(row) && (
        <p class="question-foot">Only the caller of this task, {visible(row.principal)}, can answer.</p>
      )}
    </div>
  );
}

export function AskAllForm({
  asked,
  answered,
  onSend,
}: {
  readonly asked: readonly Asked[];
  readonly answered: ReadonlySet<string>;
  readonly onSend: (parts: readonly V1Part[]) => unknown;
}) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const given = asked.filter(one => !answered.has(one.id) && (values[one.id] ?? "").trim() !== "");
  const open = asked.filter(one => !answered.has(one.id));
  const submit = (event: Event): void => {
    event.preventDefault();
    if (given.length === 0) return;
    onSend([{ data: { resume: given.map(({ id }) => ({ id, value: values[id] ?? "" })) } }]);
  };
  return (
    <form class="ask-all" onSubmit={submit}>
      <div class="ask-many">
        {asked.map(({ id, question }) => (
          <label key={id} class="lab">
            {oneLine(question, 300)}
            <input
              class="field"
              disabled={answered.has(id)}
              placeholder={answered.has(id) ? "Answered" : "Not answered yet"}
              value={values[id] ?? ""}
              onInput={event => setValues({ ...values, [id]: event.currentTarget.value })}
            />
          </label>
        ))}
      </div>
      <div class="actions">
        <Button
          kind="primary"
          type="submit"
          disabled={given.length === 0}
          label={
            given.length < open.length && given.length > 0
              ? `Send ${given.length} of ${open.length} answers`
              : "Send the answers"
          }
        />
        <span class="muted">The task continues when all are answered.</span>
      </div>
    </form>
  );
}

export function AuthorizationForm({
  authorization,
  onSend,
}: {
  readonly authorization: Authorization;
  readonly onSend: (parts: readonly V1Part[]) => unknown;
}) {
  const [isToken, setToken] = useState(!authorization.url);
  const [value, setValue] = useState("");
  const [user, setUser] = useState("");
  const isBasic = authorization.scheme === "basic";
  const submit = (event: Event): void => {
    event.preventDefault();
    const credentials = isBasic
      ? { username: user, password: value }
      : authorization.scheme === "apiKey"
        ? { apiKey: value }
        : authorization.scheme === "oauth2"
          ? { accessToken: value }
          : { token: value };
    onSend([{ data: { credentials } }]);
    setValue("");
  };
  return (
    <div class="auth-box">
      <dl class="pairs">
        <dt>for</dt>
        <dd>
          {oneLine(authorization.name, 80)}, scheme {oneLine(authorization.scheme, 40)}
        </dd>
        {authorization.scopes.length > 0 && [
          <dt key="t">scopes</dt>,
          <dd key="d" class="chips">
            {authorization.scopes.map(scope => (
              <span key={scope} class="tag mono">
                {oneLine(scope, 80)}
              </span>
            ))}
          </dd>,
        ]}
        <dt>stored</dt>
        <dd>encrypted, for this caller and this agent; never in the log</dd>
      </dl>
      {!isToken && authorization.url && (
        <div class="actions">
          <a class="btn" href={authorization.url} target="_blank" rel="noopener noreferrer">
            <Icon name="auth" />
            Authorize with {oneLine(authorization.name, 40)}
          </a>
          <Button kind="ghost" label="Give a token instead" onClick={() => setToken(true)} />
        </div>
      )}
      {isToken && (
        <form class="ask-form" onSubmit={submit}>
          {isBasic && (
            <input
              class="field"
              autocomplete="off"
              aria-label="User name"
              placeholder="User name"
              value={user}
              onInput={event => setUser(event.currentTarget.value)}
            />
          )}
          <input
            class="field"
            type="password"
            autocomplete="off"
            aria-label={isBasic ? "Password" : "Token"}
            placeholder={isBasic ? "Password" : "Token"}
            value={value}
            onInput={event => setValue(event.currentTarget.value)}
          />
          <Button type="submit" label="Authorize" icon="auth" disabled={value === ""} />
        </form>
      )}
    </div>
  );
}
