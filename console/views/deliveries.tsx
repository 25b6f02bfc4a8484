import { useEffect, useRef, useState } from "preact/hooks";
import type { Delivery, DeliveryPage } from "../../src/admin/api.ts";
import { agents, readAdmin } from "../lib/admin.ts";
import { reasonOf } from "../lib/api.ts";
import { useCrumbs } from "../lib/crumbs.ts";
import { onChange } from "../lib/feed.ts";
import { inQuery, setQuery } from "../lib/router.ts";
import { Bones, Button, Empty, Note, Search } from "../parts/basics.tsx";
import { DeliveryTable } from "../parts/deliveries.tsx";

const STATES: readonly (readonly [string, string])[] = [
  ["", "All"],
  ["failing", "Retrying"],
  ["dead", "Given up"],
  ["waiting", "Waiting"],
  ["done", "Delivered"],
];

const PAGE = "100";

/** Webhooks: where events are sent, what was answered, and when the next try is. */
export function Deliveries() {
  const [rows, setRows] = useState<readonly Delivery[]>();
  const [next, setNext] = useState("");
  const [problem, setProblem] = useState("");
  const [turn, setTurn] = useState(0);
  const [typed, setTyped] = useState(inQuery("find"));
  const state = inQuery("state");
  const find = inQuery("find");
  const agent = inQuery("agent");
  useCrumbs("Deliveries");
  useEffect(() => {
    if (typed === find) return;
    const timer = setTimeout(() => setQuery({ find: typed }), 250);
    return () => clearTimeout(timer);
  }, [typed]);
  // Something with dashes and digits is the id of a task, anything else a host.
  const query = {
    state,
    agent,
    ...(find && (/^[0-9a-f-]{16,}$/i.test(find) ? { task: find } : { host: find })),
  };
  const read = (pageToken: string, abort?: AbortSignal): Promise<DeliveryPage> =>
    readAdmin<DeliveryPage>("deliveries", { ...query, pageSize: PAGE, pageToken }, abort);
  const attempt = async (work: () => Promise<void>, abort?: AbortSignal): Promise<void> => {
    try {
      await work();
      setProblem("");
    } catch (error) {
      if (!abort?.aborted) setProblem(reasonOf(error));
    }
  };
  const shown = useRef(0);
  shown.current = rows?.length ?? 0;
  /** As many rows as are shown are read again, so that the list does not become shorter. */
  const reload = (wanted: number, abort: AbortSignal): Promise<void> =>
    attempt(async () => {
      const all: Delivery[] = [];
      let token = "";
      do {
        const page = await read(token, abort);
        all.push(...page.deliveries);
        token = page.nextPageToken;
      } while (token !== "" && all.length < wanted);
      setRows(all);
      setNext(token);
    }, abort);
  const more = (): Promise<void> =>
    attempt(async () => {
      const page = await read(next);
      setRows([...(rows ?? []), ...page.deliveries]);
      setNext(page.nextPageToken);
    });
  useEffect(() => {
    const abort = new AbortController();
    void reload(0, abort.signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void reload(shown.current, abort.signal);
      }, 1000);
    };
    const stop = onChange(soon);
    // Attempts change no task: they are read again while the page is open.
    const every = setInterval(soon, 4000);
    return () => {
      abort.abort();
      clearTimeout(timer);
      clearInterval(every);
      stop();
    };
  }, [state, find, agent, turn]);
  return (
    <div class="page">
      <header class="page-head">
        <h1>Deliveries</h1>
        <span class="lead">At least once, in order, with the same webhook-id at every attempt</span>
      </header>
      <div class="filters">
        <Search
          label="Search webhooks"
          placeholder="A host or the id of a task"
          value={typed}
          onInput={setTyped}
        />
        <div class="chips" role="group" aria-label="States">
          {STATES.map(([id, label]) => (
            <button
              key={id}
              class="chip"
              type="button"
              aria-pressed={state === id}
              onClick={() => setQuery({ state: id })}
            >
              {label}
            </button>
          ))}
        </div>
        <label class={`chip choice${agent ? " is-set" : ""}`}>
          <span>Agent</span>
          <select value={agent} onChange={event => setQuery({ agent: event.currentTarget.value })}>
            <option value="">any</option>
            {(agents.value ?? []).map(one => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {problem && (
        <Note>
          {problem} <Button small label="Try again" onClick={() => setTurn(turn + 1)} />
        </Note>
      )}
      <div class="card is-bleed">
        {!rows && !problem && <Bones />}
        {rows && rows.length > 0 && <DeliveryTable deliveries={rows} onChanged={() => setTurn(turn + 1)} />}
        {rows?.length === 0 && (
          <Empty icon="send" title={state || find || agent ? "No webhook matches" : "No webhooks"}>
            <p>
              Callers set webhooks for their tasks with push notification configurations. Each is listed here
              with its attempts.
            </p>
          </Empty>
        )}
        {next && (
          <div class="pager">
            <span class="grow" />
            <Button small label="Load more" onClick={more} />
          </div>
        )}
      </div>
    </div>
  );
}
