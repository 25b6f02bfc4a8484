import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { ContextPage, ContextRow } from "../../../src/admin/api.ts";
import { readAdmin } from "../../lib/admin.ts";
import { reasonOf } from "../../lib/api.ts";
import { onChange } from "../../lib/feed.ts";
import { ago, clock, dayName, plainLine } from "../../lib/format.ts";
import { go, href } from "../../lib/router.ts";
import { isTerminal, isWaiting, stateLook } from "../../lib/states.ts";
import { store, stored } from "../../lib/theme.ts";
import { Bones, Button, Icon, Monogram, Search } from "../../parts/basics.tsx";

const TITLES_KEY = "dragoman-titles";
const TITLES_MAX = 500;

/** Titles that the user gave, in this browser. */
export const titles = signal<Readonly<Record<string, string>>>(readTitles());

function readTitles(): Record<string, string> {
  try {
    return JSON.parse(stored(TITLES_KEY) ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}

export function rename(contextId: string, title: string): void {
  const { [contextId]: _, ...others } = titles.value;
  titles.value = title === "" ? others : { ...others, [contextId]: title };
  store(TITLES_KEY, JSON.stringify(Object.fromEntries(Object.entries(titles.value).slice(-TITLES_MAX))));
}

export const contexts = signal<readonly ContextRow[] | undefined>(undefined);
export const titleOf = (row: ContextRow): string =>
  titles.value[row.contextId] ?? (plainLine(row.title, 80) || "Conversation");

const isQuick = (row: ContextRow): string =>
  isWaiting(row.task.state) ? "Waiting for an answer" : dayName(row.task.stateAt);

function timeOf(row: ContextRow, now: number): string {
  const age = now - row.task.stateAt;
  if (isWaiting(row.task.state) || age < 3_600_000) return ago(age);
  return dayName(row.task.stateAt) === "Today" ? clock(row.task.stateAt).slice(0, 5) : ago(age);
}

function ContextLink({ row, isCurrent }: { readonly row: ContextRow; readonly isCurrent: boolean }) {
  const { state } = row.task;
  const { look } = stateLook(state);
  const line = plainLine(row.task.text, 80) || stateLook(state).word;
  return (
    <a
      class="ctx"
      href={href(["chat", row.agent, row.contextId])}
      aria-current={isCurrent ? "true" : undefined}
    >
      <Monogram name={row.agent} />
      <span class="ctx-title cut">{titleOf(row)}</span>
      <span class="ctx-time">{timeOf(row, Date.now())}</span>
      <span class="ctx-last">
        {state === "completed" ? (
          <span class="cut">{line}</span>
        ) : (
          <span class={`st is-${look}`}>
            <Icon name={look} />
            <span class="cut">
              {!isTerminal(state) && state !== "submitted"
                ? line
                : `${stateLook(state).word}${row.task.text ? `: ${line}` : ""}`}
            </span>
          </span>
        )}
      </span>
    </a>
  );
}

/** The list of conversations, live: the newest first, those that wait for the user before them. */
export function Contexts({
  agent,
  contextId,
  isOpen,
  onClose,
}: {
  readonly agent: string;
  readonly contextId: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const [find, setFind] = useState("");
  const [next, setNext] = useState("");
  const [problem, setProblem] = useState("");
  const load = async (pageToken: string, abort?: AbortSignal): Promise<void> => {
    try {
      let token = pageToken;
      let found: readonly ContextRow[] = pageToken ? (contexts.peek() ?? []) : [];
      const start = found.length;
      // With words to find, a page can be empty although there are more.
      do {
        const page = await readAdmin<ContextPage>(
          "contexts",
          { text: find, pageSize: "50", pageToken: token },
          abort,
        );
        found = [...found, ...page.contexts];
        token = page.nextPageToken;
      } while (found.length === start && token !== "");
      contexts.value = found;
      setNext(token);
      setProblem("");
    } catch (error) {
      if (!abort?.aborted) setProblem(reasonOf(error));
    }
  };
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => void load("", abort.signal), find ? 200 : 0);
    let again: ReturnType<typeof setTimeout> | undefined;
    const stop = onChange(change => {
      if (
        change.kind === "task" &&
        contexts.peek()?.some(one => one.contextId === change.row.contextId && one.agent === change.row.agent)
      ) {
        contexts.value = contexts
          .peek()
          ?.map(one =>
            one.contextId === change.row.contextId &&
            one.agent === change.row.agent &&
            change.row.createdAt >= one.task.createdAt
              ? { ...one, task: change.row }
              : one,
          );
        return;
      }
      clearTimeout(again);
      again = setTimeout(() => void load("", abort.signal), 400);
    });
    return () => {
      abort.abort();
      clearTimeout(timer);
      clearTimeout(again);
      stop();
    };
  }, [find]);
  const rows = (contexts.value ?? []).toSorted(
    (one, other) =>
      Number(isWaiting(other.task.state)) - Number(isWaiting(one.task.state)) ||
      other.task.stateAt - one.task.stateAt,
  );
  const groups = [...new Set(rows.map(isQuick))];
  return (
    <aside class={`contexts${isOpen ? " is-open" : ""}`} aria-label="Conversations">
      <div class="contexts-head">
        <Search class="grow" label="Search conversations" value={find} onInput={setFind} />
        <Button
          icon="plus"
          name="New conversation"
          keys="C"
          onClick={() => {
            onClose();
            go(["chat"], { agent });
          }}
        />
      </div>
      <div
        class="contexts-list scroll"
        onClick={event => (event.target as Element).closest("a") && onClose()}
      >
        {problem && (
          <p class="ctx-note is-wrong" role="status">
            {problem}
          </p>
        )}
        {!contexts.value && !problem && <Bones />}
        {groups.map(group => (
          <section key={group} aria-label={group}>
            <h2>{group}</h2>
            {rows
              .filter(row => isQuick(row) === group)
              .map(row => (
                <ContextLink
                  key={`${row.agent} ${row.contextId}`}
                  row={row}
                  isCurrent={row.contextId === contextId && row.agent === agent}
                />
              ))}
          </section>
        ))}
        {contexts.value?.length === 0 && (
          <p class="ctx-note dim">
            {find
              ? "No conversation contains these words."
              : "No conversations yet. Choose an agent and send a message."}
          </p>
        )}
        {next && <Button small kind="ghost" label="Show older conversations" onClick={() => load(next)} />}
      </div>
    </aside>
  );
}
