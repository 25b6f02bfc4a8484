import { useEffect, useState } from "preact/hooks";
import type { DialectView, EventPage, EventRow, FramePage, FrameRow } from "../../../src/admin/api.ts";
import { me, readAdmin, segment } from "../../lib/admin.ts";
import { reasonOf } from "../../lib/api.ts";
import { inQuery, setQuery } from "../../lib/router.ts";
import { Button, copy, Tabs } from "../../parts/basics.tsx";
import { Json } from "../../parts/json.tsx";

const LOG = "log";

/** The same event, or the whole task, as each dialect has it on the wire: two columns, or more on request. */
export function Dialects({
  id,
  seq,
  state,
}: {
  readonly id: string;
  readonly seq: number;
  readonly state: string;
}) {
  const known = [{ name: LOG, title: "Log" }, ...(me.value?.features.dialects ?? [])];
  const [form, setForm] = useState("frame");
  const [frame, setFrame] = useState<FrameRow>();
  const [event, setEvent] = useState<EventRow>();
  const [whole, setWhole] = useState<readonly DialectView[]>();
  const [problem, setProblem] = useState("");
  const chosen = (inQuery("dialects") || "v1,v03")
    .split(",")
    .filter(name => known.some(one => one.name === name));
  const columns = chosen.length > 0 ? chosen : [known[0]?.name ?? LOG];
  useEffect(() => {
    const abort = new AbortController();
    const fail = (error: unknown): void => {
      if (!abort.signal.aborted) setProblem(reasonOf(error));
    };
    if (form === "task")
      readAdmin<{ dialects: readonly DialectView[] }>(`tasks/${segment(id)}/dialects`, {}, abort.signal).then(
        ({ dialects }) => setWhole(dialects),
        fail,
      );
    else {
      const page = { after: String(seq - 1), max: "1" };
      readAdmin<FramePage>(`tasks/${segment(id)}/frames`, page, abort.signal).then(
        ({ frames }) => setFrame(frames.find(one => one.seq === seq)),
        fail,
      );
      readAdmin<EventPage>(`tasks/${segment(id)}/events`, page, abort.signal).then(
        ({ events }) => setEvent(events[0]),
        fail,
      );
    }
    setProblem("");
    return () => abort.abort();
  }, [id, seq, form, state]);
  const change = (at: number, name: string): void =>
    setQuery({ dialects: columns.map((one, index) => (index === at ? name : one)).join(",") });
  return (
    <section class="card dialects" aria-label="Dialects">
      <div class="card-head">
        <h2>{form === "frame" ? `Event ${seq} in each dialect` : "The whole task in each dialect"}</h2>
        <span class="grow" />
        <Tabs
          segmented
          label="What is shown"
          items={[
            { id: "frame", label: "Frame" },
            { id: "task", label: "Whole task" },
          ]}
          chosen={form}
          onChoose={setForm}
        />
        <Button
          class="hide-phone"
          small
          kind="ghost"
          icon="plus"
          name="Add a column"
          disabled={columns.length >= 4}
          onClick={() =>
            setQuery({
              dialects: [...columns, known.find(one => !columns.includes(one.name))?.name ?? LOG].join(","),
            })
          }
        />
      </div>
      {problem && (
        <p class="card-body is-wrong" role="status">
          {problem}
        </p>
      )}
      <div class="pair" data-columns={columns.length}>
        {columns.map((name, at) => (
          <div key={at} class="col">
            <div class="col-head">
              <select
                class="field"
                aria-label={`Dialect of column ${at + 1}`}
                value={name}
                onChange={one => change(at, one.currentTarget.value)}
              >
                {known.map(one => (
                  <option key={one.name} value={one.name}>
                    {one.title}
                  </option>
                ))}
              </select>
              {columns.length > 1 && (
                <Button
                  small
                  kind="ghost"
                  icon="x"
                  name="Remove the column"
                  onClick={() => setQuery({ dialects: columns.filter((_, index) => index !== at).join(",") })}
                />
              )}
            </div>
            <Column
              name={name}
              form={form}
              frame={frame?.seq === seq ? frame : undefined}
              event={event?.seq === seq ? event : undefined}
              whole={whole}
            />
          </div>
        ))}
      </div>
    </section>
  );
}

function Column({
  name,
  form,
  frame,
  event,
  whole,
}: {
  readonly name: string;
  readonly form: string;
  readonly frame: FrameRow | undefined;
  readonly event: EventRow | undefined;
  readonly whole: readonly DialectView[] | undefined;
}) {
  if (name === LOG) {
    if (form === "task") return <div class="silent">The log is the list of events beside this.</div>;
    return event ? <Shown head={`event ${event.seq}`} value={event.event} /> : null;
  }
  if (form === "task") {
    const view = whole?.find(one => one.name === name);
    if (!view) return null;
    return view.task === null ? (
      <div class="silent">
        <b>Not available in this dialect</b>
        <p>{view.problem}</p>
      </div>
    ) : (
      <Shown head={view.title} value={view.task} />
    );
  }
  if (!frame) return null;
  const own = frame.byDialect[name];
  if (!own)
    return (
      <div class="silent">
        <b>No message at this event</b>
        <p>Callers of this dialect receive nothing for it: the ids of their stream have a gap here.</p>
      </div>
    );
  return <Shown head={`id: ${frame.seq}${own.event ? `, event: ${own.event}` : ""}`} value={own.data} />;
}

function Shown({ head, value }: { readonly head: string; readonly value: unknown }) {
  return (
    <>
      <div class="code-bar">
        <span class="mono grow cut">{head}</span>
        <Button
          small
          kind="ghost"
          icon="copy"
          name="Copy the frame"
          onClick={() => copy(JSON.stringify(value, null, 2), "Copied the frame")}
        />
      </div>
      <div class="scroll frame-scroll" tabIndex={0} role="group" aria-label={head}>
        <Json value={value} open={6} />
      </div>
    </>
  );
}
