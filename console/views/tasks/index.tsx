import { useEffect, useMemo, useState } from "preact/hooks";
import type { TaskCounts } from "../../../src/admin/api.ts";
import { adminPath, agents, me, readAdmin } from "../../lib/admin.ts";
import { urlOf } from "../../lib/api.ts";
import { useCrumbs } from "../../lib/crumbs.ts";
import { onChange } from "../../lib/feed.ts";
import { count, oneLine, plural } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { go, href, place, type Query, setQuery } from "../../lib/router.ts";
import { STATE_NAMES, stateLook } from "../../lib/states.ts";
import { store, stored } from "../../lib/theme.ts";
import { Button, copy, Icon, Search } from "../../parts/basics.tsx";
import { OneTask } from "../task/index.tsx";
import { type Filters, fromTyped, matches, readFilters, SINCE, toQuery } from "./filters.ts";
import { TaskList } from "./list.ts";
import { TaskTable } from "./table.tsx";

export function Tasks() {
  const id = place.value.path[1];
  return id ? <OneTask key={id} id={id} /> : <AllTasks />;
}

interface SavedView {
  readonly name: string;
  readonly query: Query;
}
const FIXED: readonly SavedView[] = [
  { name: "All", query: {} },
  { name: "Running", query: { state: ["submitted", "working"] } },
  { name: "Waiting", query: { state: ["input-required", "auth-required"] } },
  { name: "Failed today", query: { state: ["failed"], since: "today" } },
  { name: "Interrupted runs", query: { crashed: "true" } },
];
/** How many tasks are in a view, where the counts by state say it. */
const COUNTED: Readonly<Record<string, (byState: TaskCounts["byState"]) => number>> = {
  Running: byState => byState.submitted + byState.working,
  Waiting: byState => byState["input-required"] + byState["auth-required"],
};
const VIEWS_KEY = "dragoman-task-views";

function readViews(): readonly SavedView[] {
  try {
    return JSON.parse(stored(VIEWS_KEY) ?? "[]") as SavedView[];
  } catch {
    return [];
  }
}

const sameQuery = (view: SavedView): boolean => href(["tasks"], view.query) === href(["tasks"], queryNow());
function queryNow(): Query {
  const query: Record<string, readonly string[]> = {};
  for (const name of [...place.value.query.keys()].toSorted()) query[name] = place.value.query.getAll(name);
  return query;
}

/** Named searches: five that everyone needs, and those that the user saved in this browser. */
function Views({ counts }: { readonly counts: TaskCounts | undefined }) {
  const [saved, setSaved] = useState(readViews);
  const keep = (views: readonly SavedView[]): void => {
    setSaved(views);
    store(VIEWS_KEY, JSON.stringify(views));
  };
  const all = [...FIXED, ...saved];
  const isNew = !all.some(sameQuery);
  const add = (): void => {
    const name = prompt("Name of this view")?.trim().slice(0, 40);
    if (name) keep([...saved, { name, query: queryNow() }]);
  };
  return (
    <nav class="views tabs" aria-label="Views">
      {all.map(view => (
        <span key={view.name} class="view-tab">
          <a
            class="tab"
            href={href(["tasks"], view.query)}
            aria-current={sameQuery(view) ? "page" : undefined}
          >
            {oneLine(view.name, 40)}
            {COUNTED[view.name] && counts && (
              <span class="count">{count(COUNTED[view.name]?.(counts.byState) ?? 0)}</span>
            )}
          </a>
          {saved.includes(view) && sameQuery(view) && (
            <Button
              small
              kind="ghost"
              icon="x"
              name={`Remove the view ${view.name}`}
              onClick={() => keep(saved.filter(one => one !== view))}
            />
          )}
        </span>
      ))}
      {isNew && <Button small kind="ghost" icon="plus" label="Save this view" onClick={add} />}
    </nav>
  );
}

function Choice({
  label,
  value,
  options,
  onChoose,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChoose: (value: string) => void;
}) {
  return (
    <label class={`chip choice${value ? " is-set" : ""}`}>
      <span>{label}</span>
      <select value={value} onChange={event => onChoose(event.currentTarget.value)}>
        <option value="">any</option>
        {options.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </label>
  );
}

function FilterBar({
  filters,
  counts,
}: {
  readonly filters: Filters;
  readonly counts: TaskCounts | undefined;
}) {
  const [typed, setTyped] = useState(filters.text);
  useEffect(() => setTyped(filters.text), [filters.text]);
  useEffect(() => {
    if (typed === filters.text) return;
    const timer = setTimeout(() => setQuery(fromTyped(typed, filters)), 250);
    return () => clearTimeout(timer);
  }, [typed]);
  const [caller, setCaller] = useState(filters.caller);
  const toggle = (state: string): void =>
    setQuery({
      state: filters.states.includes(state)
        ? filters.states.filter(one => one !== state)
        : [...filters.states, state],
    });
  const tenants = me.value?.tenants ?? [];
  return (
    <div class="filters">
      <Search
        label="Search tasks"
        placeholder="Words, an id, agent:name state:failed"
        value={typed}
        onInput={setTyped}
        onEnter={() => setQuery(fromTyped(`${typed} `, filters))}
      />
      <div class="chips">
        <Choice
          label="Agent"
          value={filters.agents[0] ?? ""}
          options={(agents.value ?? []).map(one => [one.name, one.name] as const)}
          onChoose={value => setQuery({ agent: value })}
        />
        <Choice
          label="Created"
          value={filters.since}
          options={Object.entries(SINCE).map(([id, { label }]) => [id, label] as const)}
          onChoose={value => setQuery({ since: value })}
        />
        {tenants.length > 1 && (
          <Choice
            label="Tenant"
            value={filters.tenant}
            options={tenants.map(one => [one, one] as const)}
            onChoose={value => setQuery({ tenant: value })}
          />
        )}
        {me.value?.isOperator && (
          <form
            class={`chip choice${filters.caller ? " is-set" : ""}`}
            onSubmit={event => {
              event.preventDefault();
              setQuery({ caller: caller.trim() });
            }}
          >
            <label>
              Caller{" "}
              <input
                class="chip-field"
                value={caller}
                placeholder="any"
                onInput={event => setCaller(event.currentTarget.value)}
                onBlur={() => setQuery({ caller: caller.trim() })}
              />
            </label>
          </form>
        )}
        {filters.contextId && (
          <button
            class="chip"
            type="button"
            aria-pressed="true"
            onClick={() => setQuery({ contextId: undefined })}
          >
            One context
            <Icon name="x" />
          </button>
        )}
      </div>
      <span class="grow hide-phone" />
      <div class="chips" role="group" aria-label="States">
        {STATE_NAMES.map(state => {
          const { look, word } = stateLook(state);
          const amount = counts?.byState[state as keyof TaskCounts["byState"]] ?? 0;
          return (
            <button
              key={state}
              class={`chip is-count is-${look}`}
              type="button"
              aria-pressed={filters.states.includes(state)}
              title={word}
              aria-label={`${word}: ${amount}`}
              onClick={() => toggle(state)}
            >
              <span class={`st is-${look}`}>
                <Icon name={look} />
              </span>
              {count(amount)}
            </button>
          );
        })}
      </div>
    </div>
  );
}

function useCounts(filters: Filters): TaskCounts | undefined {
  const [counts, setCounts] = useState<TaskCounts>();
  useEffect(() => {
    const abort = new AbortController();
    const load = (): void =>
      void readAdmin<TaskCounts>(
        "tasks/counts",
        { agent: filters.agents, tenant: filters.tenant },
        abort.signal,
      ).then(setCounts, () => {});
    load();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onChange(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        load();
      }, 1000);
    });
    return () => {
      abort.abort();
      clearTimeout(timer);
      stop();
    };
  }, [filters.agents.join(" "), filters.tenant]);
  return counts;
}

function AllTasks() {
  const filters = readFilters();
  const key = place.value.query.toString();
  const list = useMemo(() => new TaskList(toQuery(filters), row => matches(filters, row)), [key]);
  useEffect(() => () => list.close(), [list]);
  const counts = useCounts(filters);
  useCrumbs({ label: "Tasks", href: href(["tasks"]) });
  const isFiltered =
    filters.states.length > 0 ||
    filters.text !== "" ||
    filters.since !== "" ||
    filters.caller !== "" ||
    filters.contextId !== "" ||
    filters.isCrashed;
  const curl = `curl -s '${urlOf(adminPath("tasks", toQuery(filters)))}'${me.value?.needsToken ? " -H 'Authorization: Bearer TOKEN'" : ""}`;
  useKeys([
    {
      key: "l",
      label: list.isRunning.value ? "Hold the list still" : "Let the list run",
      run: () => {
        list.isRunning.value = !list.isRunning.peek();
        list.showFresh();
      },
    },
  ]);
  return (
    <div class="page">
      <header class="page-head">
        <h1>Tasks</h1>
        <span class="lead">
          {counts
            ? `${plural(counts.total, "task")} of ${filters.agents.length === 1 ? filters.agents[0] : plural(agents.value?.length ?? 0, "agent")}`
            : ""}
        </span>
        <span class="grow" />
        <Button
          class="hide-phone"
          kind="ghost"
          icon="copy"
          label="Copy as curl"
          onClick={() => copy(curl, "Copied as curl")}
        />
        <Button
          kind="primary"
          icon="plus"
          label="New task"
          onClick={() => go(["chat"], { agent: filters.agents[0] })}
        />
      </header>
      <Views counts={counts} />
      <FilterBar filters={filters} counts={counts} />
      <TaskTable key={key} list={list} isFiltered={isFiltered} />
    </div>
  );
}
