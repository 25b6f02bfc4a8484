import { useEffect, useState } from "preact/hooks";
import type { InboxPage, InboxRow } from "../../src/admin/api.ts";
import type { Part } from "../../src/model/message.ts";
import { cancelTask } from "../lib/a2a.ts";
import { dialectTitle, loadWaiting, maySend, readAdmin } from "../lib/admin.ts";
import { reasonOf } from "../lib/api.ts";
import { useCrumbs } from "../lib/crumbs.ts";
import { onChange } from "../lib/feed.ts";
import { ago, clock, duration, oneLine, plainLine, plural, shortId, visible } from "../lib/format.ts";
import { useKeys } from "../lib/keys.ts";
import { type LiveTask, openTask } from "../lib/live-task.ts";
import { go, href, inQuery, setQuery } from "../lib/router.ts";
import { isTerminal, isWaiting } from "../lib/states.ts";
import { fromV1Message, type Item, type Status, textIn } from "../lib/task-log.ts";
import { toast } from "../lib/toast.ts";
import type { V1Message, V1Part } from "../lib/v1.ts";
import { AgentName, Bones, Button, Empty, Icon, Note, Pairs, useNow } from "../parts/basics.tsx";
import { answer, isMine, Question } from "../parts/question.tsx";

const statusOf = (row: InboxRow): Status => ({
  state: row.task.state,
  message: row.message ? fromV1Message(row.message as unknown as V1Message) : undefined,
  asks: row.asks,
  auth: row.authorization ?? undefined,
  asksToRepeat: row.asksToRepeat,
  isBroken: false,
});

function AnswerForm({ row, onSent }: { readonly row: InboxRow; readonly onSent: () => void }) {
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (text.trim() === "") return;
    setBusy(true);
    if (await answer(row.task, [{ text }])) onSent();
    setBusy(false);
  };
  return (
    <form class="ask-form" onSubmit={send}>
      <textarea
        class="field ask-field"
        rows={1}
        aria-label={`Answer to ${row.task.agent}`}
        placeholder={row.asksToRepeat ? "yes or no" : "Your answer"}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={event => event.key === "Enter" && !event.shiftKey && !event.isComposing && send(event)}
      />
      <Button type="submit" label={isBusy ? "Sending" : "Answer"} disabled={isBusy || text.trim() === ""} />
    </form>
  );
}

function Ask({
  row,
  now,
  isCurrent,
  onSelect,
  onSent,
}: {
  readonly row: InboxRow;
  readonly now: number;
  readonly isCurrent: boolean;
  readonly onSelect: () => void;
  readonly onSent: () => void;
}) {
  const { task } = row;
  const isAuth = task.state === "auth-required";
  const status = statusOf(row);
  const send = async (parts: readonly V1Part[]): Promise<void> => {
    if (await answer(task, parts)) onSent();
  };
  const cancel = async (): Promise<void> => {
    try {
      await cancelTask(task.agent, task.id);
      onSent();
    } catch (error) {
      toast(`The task was not canceled: ${reasonOf(error)}`, { isError: true });
    }
  };
  const canAnswer = maySend() && isMine(task);
  return (
    <article
      class="card ask"
      data-task={task.id}
      aria-current={isCurrent ? "true" : undefined}
      onFocusCapture={onSelect}
      onClick={onSelect}
    >
      <div class="ask-head">
        <AgentName name={task.agent} />
        <span>waits {duration(Math.floor(Math.max(0, now - task.stateAt) / 1000) * 1000)}</span>
        <span class="grow" />
        <span class="hide-phone">
          {oneLine(`${task.principal} of ${task.tenant}`, 50)}, {dialectTitle(task.dialect)}
        </span>
        <a class="id" href={href(["tasks", task.id])}>
          {shortId(task.id)}
        </a>
      </div>
      {task.title && (
        <p class="ask-said">
          after “<q class="plain">{oneLine(task.title, 120)}</q>”
        </p>
      )}
      <Question row={task} status={status} isOpen onAnswer={send} />
      {canAnswer && !isAuth && row.asks.length <= 1 && <AnswerForm row={row} onSent={onSent} />}
      {canAnswer && (
        <div class="ask-foot">
          <a class="btn btn-small" href={href(["chat", task.agent, task.contextId])}>
            Open in chat
          </a>
          <Button small kind="danger" label="Cancel the task" onClick={cancel} />
        </div>
      )}
    </article>
  );
}

/** One line of a conversation: the text, or what there is instead of text. */
function wordsOf(item: Item): string {
  if (item.kind === "user") return plainLine(textIn(item.message.parts), 240) || kindsOf(item.message.parts);
  if (item.kind === "artifact")
    return plainLine(textIn(item.piece.parts), 240) || item.piece.name || kindsOf(item.piece.parts);
  return item.kind === "status" ? plainLine(textIn(item.status.message?.parts ?? []), 240) : "";
}

const kindsOf = (parts: readonly Part[]): string =>
  parts.map(part => oneLine(part.filename ?? (part.kind === "data" ? "data" : "file"), 60)).join(", ");

/** What was said in the task that is selected. */
function Said({ row }: { readonly row: InboxRow }) {
  const [live, setLive] = useState<LiveTask>();
  useEffect(() => {
    const opened = openTask(row.task);
    setLive(opened);
    return () => opened.close();
  }, [row.task.id]);
  live?.version.value;
  const items =
    live?.log.items.filter(
      item => item.kind === "user" || item.kind === "artifact" || item.kind === "status",
    ) ?? [];
  return (
    <section class="card">
      <h2>Conversation so far</h2>
      <ol class="said-mini">
        {items.slice(-8).map((item, at) => (
          <li key={at}>
            <span class="who">
              <span>{item.kind === "user" ? visible(row.task.principal) : visible(row.task.agent)}</span>
              <span>{clock(item.at)}</span>
            </span>
            <span dir="auto">{wordsOf(item)}</span>
          </li>
        ))}
      </ol>
      <Pairs
        rows={[
          [
            "task",
            <span key="i" class="mono">
              {shortId(row.task.id)}
            </span>,
          ],
          ["caller", oneLine(`${row.task.principal} of ${row.task.tenant}`, 60)],
          ["dialect", dialectTitle(row.task.dialect)],
        ]}
      />
      <div class="actions">
        <a class="btn btn-small" href={href(["tasks", row.task.id])}>
          Open the task
        </a>
      </div>
    </section>
  );
}

const KINDS: readonly (readonly [string, string, string])[] = [
  ["", "All", ""],
  ["input", "Questions", "input"],
  ["authorization", "Authorization", "auth"],
];

/** Every task that waits for a person, the longest first; answered in place. */
export function Inbox() {
  const [page, setPage] = useState<InboxPage>();
  const [problem, setProblem] = useState("");
  const [selected, setSelected] = useState("");
  const [turn, setTurn] = useState(0);
  const kind = inQuery("kind");
  const agent = inQuery("agent");
  const now = useNow(true);
  useCrumbs("Inbox");
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = (): void =>
      void readAdmin<InboxPage>("inbox", { kind, agent, pageSize: "100" }, abort.signal).then(
        read => {
          setPage(read);
          setProblem("");
        },
        error => abort.signal.aborted || setProblem(reasonOf(error)),
      );
    load();
    const stop = onChange(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        load();
      }, 400);
    });
    return () => {
      abort.abort();
      clearTimeout(timer);
      stop();
    };
  }, [kind, agent, turn]);
  const rows = (page?.tasks ?? []).filter(row => isWaiting(row.task.state) && !isTerminal(row.task.state));
  const current = rows.find(row => row.task.id === selected) ?? rows[0];
  const at = current ? rows.indexOf(current) : -1;
  const select = (to: number, focus = false): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, to))];
    if (!row) return;
    setSelected(row.task.id);
    const card = document.querySelector(`[data-task="${CSS.escape(row.task.id)}"]`);
    card?.scrollIntoView({ block: "nearest" });
    if (focus) card?.querySelector<HTMLElement>("input, textarea, .btn")?.focus();
  };
  const sent = (): void => {
    toast("Sent");
    setTurn(turn + 1);
    void loadWaiting().catch(() => {});
  };
  useKeys([
    { key: "j", label: "Next question", run: () => select(at + 1) },
    { key: "k", label: "Previous question", run: () => select(at - 1) },
    { key: "a", label: "Answer", run: () => select(at, true) },
    { key: "o", label: "Open the task", run: () => current && go(["tasks", current.task.id]) },
  ]);
  return (
    <div class="page">
      <header class="page-head">
        <h1>Inbox</h1>
        <span class="lead">
          {page
            ? page.total === 0
              ? ""
              : `${plural(page.total, "task waits", "tasks wait")} for a person, the longest first`
            : ""}
        </span>
        <span class="grow" />
        <div class="chips" role="group" aria-label="Kinds">
          {KINDS.map(([id, label, icon]) => (
            <button
              key={id}
              class="chip"
              type="button"
              aria-pressed={kind === id}
              onClick={() => setQuery({ kind: id })}
            >
              {icon && (
                <span class={`st is-${icon}`}>
                  <Icon name={icon} />
                </span>
              )}
              {label}
            </button>
          ))}
        </div>
      </header>
      {problem && (
        <Note>
          {problem} <Button small label="Try again" onClick={() => setTurn(turn + 1)} />
        </Note>
      )}
      {!page && !problem && <Bones rows={7} />}
      {page && rows.length === 0 && (
        <Empty icon="inbox" title="No task waits for a person">
          <p>
            When an agent asks a question or needs authorization, it is shown here and can be answered in
            place.
          </p>
        </Empty>
      )}
      {rows.length > 0 && (
        <div class="inbox">
          <div class="asks">
            {rows.map(row => (
              <Ask
                key={row.task.id}
                row={row}
                now={now}
                isCurrent={row === current}
                onSelect={() => setSelected(row.task.id)}
                onSent={sent}
              />
            ))}
            {page && page.total > rows.length && (
              <p class="dim">{page.total - rows.length} more wait. Answer these first.</p>
            )}
          </div>
          <aside class="side" aria-label="Selected task">
            {current && <Said key={current.task.id} row={current} />}
            <section class="hide-phone">
              <h2>Longest wait</h2>
              <p>{rows[0] ? ago(now - rows[0].task.stateAt) : "–"}</p>
            </section>
            <section class="hide-phone">
              <h2>Keys</h2>
              <ul class="keys">
                {[
                  ["next, previous", "J K"],
                  ["answer", "A"],
                  ["send", "↵"],
                  ["open the task", "O"],
                ].map(([label, keys]) => (
                  <li key={label}>
                    <span>{label}</span>
                    <span>
                      {keys?.split(" ").map(one => (
                        <kbd key={one}>{one}</kbd>
                      ))}
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          </aside>
        </div>
      )}
    </div>
  );
}
