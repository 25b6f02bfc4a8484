import type { ComponentChildren } from "preact";
import { findAgent } from "../../lib/admin.ts";
import { ago, clock, count, duration, oneLine, plural, shortId, visible } from "../../lib/format.ts";
import type { LiveTask } from "../../lib/live-task.ts";
import { href } from "../../lib/router.ts";
import { isTerminal, isWaiting, stateLook } from "../../lib/states.ts";
import { type Item, textIn, toV1Part } from "../../lib/task-log.ts";
import { PartFrame, PieceView } from "../../parts/artifact.tsx";
import { Button, copy, Icon, Monogram, Note, State, useNow } from "../../parts/basics.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Question } from "../../parts/question.tsx";
import type { Conversation, PendingSend } from "./conversation.ts";
import { edit, startOver } from "./draft.ts";

type Part = (Item & { kind: "user" })["message"]["parts"][number];

export function UserBubble({
  parts,
  children,
}: {
  readonly parts: readonly Part[];
  readonly children?: ComponentChildren;
}) {
  const text = textIn(parts);
  return (
    <div class="said-user-wrap">
      {text && (
        <div class="said-user" dir="auto">
          {visible(text.length > 20_000 ? `${text.slice(0, 20_000)}…` : text)}
        </div>
      )}
      {parts.map(
        (part, at) =>
          part.kind !== "text" && (
            <PartFrame key={at} part={part} name={part.kind === "data" ? "data" : "file"} isMine />
          ),
      )}
      {children}
    </div>
  );
}

/** Consecutive items of the agent stand beside one sign. */
function groupsOf(items: readonly Item[]): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (item.kind !== "user" && last && last[0]?.kind !== "user") last.push(item);
    else groups.push([item]);
  }
  return groups;
}

export function TaskBlock({
  task,
  conversation,
  isLast,
}: {
  readonly task: LiveTask;
  readonly conversation: Conversation;
  readonly isLast: boolean;
}) {
  task.version.value;
  const { log } = task;
  const row = task.row.value;
  const isRunning = !isTerminal(log.state) && !isWaiting(log.state);
  const groups = groupsOf(log.items);
  const lastStatus = log.items.findLast(item => item.kind === "status");
  const endsWithUser = groups.at(-1)?.[0]?.kind === "user" || groups.length === 0;
  return (
    <section class="turns" aria-label={`Task ${shortId(task.id)}`}>
      <div class="task-line">
        {row.isReply ? <span>Message</span> : <a href={href(["tasks", task.id])}>Task {shortId(task.id)}</a>}
        <span>{clock(row.createdAt)}</span>
      </div>
      {groups.map((group, at) => {
        const first = group[0];
        if (!first) return null;
        if (first.kind === "user") return <UserBubble key={first.seq || at} parts={first.message.parts} />;
        return (
          <AgentBlock key={first.seq || at} agent={row.agent}>
            {group.map((item, index) => (
              <ItemView
                key={`${item.kind}${item.seq}${index}`}
                item={item}
                task={task}
                isOpen={isLast && item === lastStatus}
              />
            ))}
            {at === groups.length - 1 && isRunning && <Working task={task} conversation={conversation} />}
            {at === groups.length - 1 && !isRunning && <Foot task={task} conversation={conversation} />}
          </AgentBlock>
        );
      })}
      {endsWithUser && (
        <AgentBlock agent={row.agent}>
          {isRunning ? (
            <Working task={task} conversation={conversation} />
          ) : (
            <Foot task={task} conversation={conversation} />
          )}
        </AgentBlock>
      )}
      {task.problem.value && <Note>{task.problem.value}</Note>}
    </section>
  );
}

function AgentBlock({ agent, children }: { readonly agent: string; readonly children: ComponentChildren }) {
  return (
    <div class="said-agent">
      <Monogram name={agent} size="mid" />
      <div class="said-main">{children}</div>
    </div>
  );
}

function ItemView({
  item,
  task,
  isOpen,
}: {
  readonly item: Item;
  readonly task: LiveTask;
  readonly isOpen: boolean;
}) {
  if (item.kind === "artifact") return <PieceView piece={item.piece} />;
  if (item.kind === "reply") return <MessageView parts={item.message.parts} />;
  if (item.kind === "steps")
    return (
      <ul class="steps" aria-label="Completed steps">
        {(item.names.length > 12
          ? [`${item.names.length - 11} earlier steps`, ...item.names.slice(-11)]
          : item.names
        ).map((name, at) => (
          <li key={at}>
            <Icon name="check" />
            {oneLine(name, 60)}
          </li>
        ))}
      </ul>
    );
  if (item.kind === "note")
    return (
      <p class="run-note">
        <Icon name="bolt" />
        {item.text}
      </p>
    );
  if (item.kind === "status") {
    if (isWaiting(item.status.state))
      return (
        <Question
          row={task.row.value}
          status={item.status}
          answered={task.log.answered}
          isOpen={isOpen && isWaiting(task.log.state)}
        />
      );
    const text = item.status.message && textIn(item.status.message.parts);
    const { look } = stateLook(item.status.state);
    if (item.status.state === "working" || item.status.state === "completed")
      return item.status.message ? <MessageView parts={item.status.message.parts} /> : null;
    return text ? (
      <div class={`ended is-${look}`}>
        <Markdown text={text} />
      </div>
    ) : null;
  }
  return null;
}

function MessageView({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <>
      {parts.map((part, at) =>
        part.kind === "text" && !part.filename ? (
          <Markdown key={at} text={part.text} />
        ) : (
          <PartFrame key={at} part={part} name="file" />
        ),
      )}
    </>
  );
}

function Working({ task, conversation }: { readonly task: LiveTask; readonly conversation: Conversation }) {
  const now = useNow(true);
  const { log } = task;
  const text = log.isCanceling
    ? "Canceling"
    : log.progress || (log.state === "submitted" ? "Queued" : "Working");
  return (
    <div class="working-box">
      <div class="progress">
        <Icon name="working" />
        <span class="cut" aria-live="polite">
          {oneLine(text, 200)}
        </span>
        <span class="dim">
          {log.createdAt > 0 &&
            duration(
              Math.max(
                0,
                Math.floor(
                  (now - (log.items.findLast(item => item.kind === "user")?.at ?? log.createdAt)) / 1000,
                ) * 1000,
              ),
            )}
        </span>
        <Button
          small
          kind="ghost"
          icon="stop"
          label="Stop"
          keys="Esc"
          disabled={log.isCanceling || conversation.otherCaller() !== undefined}
          onClick={() => conversation.cancel(task)}
        />
      </div>
      <div class="meter" />
    </div>
  );
}

const usageText = (usage: Readonly<Record<string, number>>): string => {
  const { inputTokens, outputTokens, totalTokens } = usage;
  if (inputTokens !== undefined || outputTokens !== undefined)
    return `${count(inputTokens ?? 0)} tokens in, ${count(outputTokens ?? 0)} out`;
  return totalTokens === undefined ? "" : `${count(totalTokens)} tokens`;
};

function Foot({ task, conversation }: { readonly task: LiveTask; readonly conversation: Conversation }) {
  const { log } = task;
  const now = useNow(isWaiting(log.state), 10_000);
  const row = task.row.value;
  const isOthers = conversation.otherCaller() !== undefined;
  const said = log.items
    .filter(item => item.kind === "artifact" || item.kind === "reply")
    .map(item =>
      item.kind === "artifact"
        ? textIn(item.piece.parts)
        : item.kind === "reply"
          ? textIn(item.message.parts)
          : "",
    )
    .join("\n\n");
  const first = log.items.find(item => item.kind === "user");
  const parts = first?.kind === "user" ? first.message.parts : [];
  if (isWaiting(log.state))
    return (
      <div class="said-foot">
        <span>
          Asked {ago(Math.max(0, now - log.lastAt)) === "now" ? "now" : `${ago(now - log.lastAt)} ago`}. The
          task also waits while the server restarts.
        </span>
        {!isOthers && (
          <Button small kind="ghost" label="Cancel the task" onClick={() => conversation.cancel(task)} />
        )}
      </div>
    );
  const facts = [
    `${stateLook(log.state).word}${log.lastAt > log.createdAt || log.createdAt > 0 ? ` in ${duration(log.lastAt - log.createdAt)}` : ""}`,
    plural(log.lastSeq, "event"),
    log.runs > 1 && plural(log.runs, "run"),
    usageText(log.usage),
  ].filter(Boolean);
  return (
    <div class="said-foot">
      {said && (
        <Button
          kind="ghost"
          small
          icon="copy"
          name="Copy the answer"
          onClick={() => copy(said, "Copied the answer")}
        />
      )}
      {!isOthers && (
        <Button
          kind="ghost"
          small
          icon="retry"
          name="Try again"
          onClick={() =>
            conversation.waitingTask() ? startOver(row.agent, parts) : conversation.send(parts.map(toV1Part))
          }
        />
      )}
      <Button
        kind="ghost"
        small
        icon="edit"
        name="Edit and send again"
        onClick={() =>
          conversation.waitingTask() || isOthers
            ? startOver(row.agent, parts)
            : edit(row.agent, conversation.contextId.value, parts)
        }
      />
      {log.state === "completed" ? (
        <span>{facts.join(", ")}</span>
      ) : (
        <span>
          <State state={log.state} text={facts.join(", ")} />
        </span>
      )}
    </div>
  );
}

/** A message that the server has not confirmed. */
export function PendingBlock({
  pending,
  conversation,
}: {
  readonly pending: PendingSend;
  readonly conversation: Conversation;
}) {
  const parts = pending.message.parts.map(
    (part): Part =>
      part.text !== undefined
        ? { kind: "text", text: part.text }
        : part.raw !== undefined
          ? {
              kind: "bytes",
              bytes: part.raw,
              ...(part.filename && { filename: part.filename }),
              ...(part.mediaType && { mediaType: part.mediaType }),
            }
          : { kind: "data", data: part.data ?? null },
  );
  const retry = (): void => {
    conversation.discard(pending.key);
    conversation.send(pending.message.parts, pending.message.taskId);
  };
  const isHidden = parts.some(
    part =>
      part.kind === "data" &&
      typeof part.data === "object" &&
      part.data !== null &&
      "credentials" in part.data,
  );
  return (
    <section class="turns" aria-label="Message on its way">
      <UserBubble parts={isHidden ? [{ kind: "text", text: "Credentials" }] : parts}>
        <div class={`pending-foot${pending.isRefused.value ? " is-wrong" : ""}`} role="status">
          {pending.isRefused.value ? (
            <>
              <span>Not sent: {pending.problem.value}</span>
              <Button small kind="ghost" label="Try again" onClick={retry} />
              <Button
                small
                kind="ghost"
                label="Edit"
                onClick={() => {
                  edit(pending.agent, pending.contextId, parts);
                  conversation.discard(pending.key);
                }}
              />
            </>
          ) : pending.problem.value ? (
            <span>Not sent yet: {pending.problem.value}. It is sent as soon as the server responds.</span>
          ) : (
            <span>
              {findAgent(pending.agent)?.streaming === false
                ? "Waiting for the answer; this agent does not stream"
                : "Sending"}
            </span>
          )}
        </div>
      </UserBubble>
    </section>
  );
}
