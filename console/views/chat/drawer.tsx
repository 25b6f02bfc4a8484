import { useEffect, useState } from "preact/hooks";
import type { CurlCommand, DialectView } from "../../../src/admin/api.ts";
import { dialectTitle, findAgent, readAdmin, segment } from "../../lib/admin.ts";
import { reasonOf } from "../../lib/api.ts";
import { summaryOf } from "../../lib/event-words.ts";
import { sizeOf } from "../../lib/files.ts";
import { bytes, clock, duration, oneLine, plural } from "../../lib/format.ts";
import type { LiveTask } from "../../lib/live-task.ts";
import { href } from "../../lib/router.ts";
import { isTerminal } from "../../lib/states.ts";
import { toast } from "../../lib/toast.ts";
import { Button, copy, Icon, Id, Pairs, State, Tabs } from "../../parts/basics.tsx";
import { JsonPanel } from "../../parts/json.tsx";
import type { Conversation } from "./conversation.ts";

async function copyCurl(id: string): Promise<void> {
  try {
    const { commands } = await readAdmin<{ commands: readonly CurlCommand[] }>(`tasks/${segment(id)}/curl`);
    const best = commands.find(one => one.name === "v1" && one.action === "subscribe") ?? commands[0];
    if (best) await copy(best.command, "Copied as curl");
  } catch (error) {
    toast(reasonOf(error), { isError: true });
  }
}

function TaskFacts({ task, conversation }: { readonly task: LiveTask; readonly conversation: Conversation }) {
  task.version.value;
  const row = task.row.value;
  const { log, recent } = task;
  const pieces = conversation.tasks.value.flatMap(one => [...one.log.artifacts.values()]);
  const start = log.createdAt;
  return (
    <>
      <section>
        <div>
          <State state={log.state} pill />
        </div>
        <Pairs
          rows={[
            ["task", <Id key="i" id={task.id} what="task id" />],
            [
              "context",
              <span key="c">
                <Id id={row.contextId} what="context id" />{" "}
                <span class="dim">{plural(conversation.tasks.value.length, "task")}</span>
              </span>,
            ],
            ["dialect", dialectTitle(row.dialect)],
            ["caller", `${row.principal} of ${row.tenant}`],
            ["time", log.createdAt ? duration(log.lastAt - log.createdAt) : "–"],
          ]}
        />
        <div class="actions">
          <a class="btn btn-small" href={href(["tasks", task.id])}>
            Open the task
          </a>
          <Button small icon="copy" label="curl" onClick={() => copyCurl(task.id)} />
        </div>
      </section>
      <section>
        <h2>Stream</h2>
        <Pairs
          rows={[
            ["state", isTerminal(log.state) ? "ended with the task" : "open"],
            [
              "last id",
              <span key="m" class="mono">
                {log.lastSeq}
              </span>,
            ],
            ["resume", <code key="r">Last-Event-ID: {log.lastSeq}</code>],
          ]}
        />
      </section>
      <section>
        <h2>Events</h2>
        <ol class="evs">
          {recent.slice(-40).map(event => (
            <li key={event.seq} class="ev">
              <span class="seq">{event.seq}</span>
              <span class="cut">
                <span class="mono">{event.type}</span> <span class="dim">{summaryOf(event)}</span>
              </span>
              <span class="dim" title={clock(event.at, true)}>
                {duration(event.at - start)}
              </span>
            </li>
          ))}
        </ol>
      </section>
      {pieces.length > 0 && (
        <section>
          <h2>Artifacts of the conversation</h2>
          <ol class="evs">
            {pieces.slice(-30).map((piece, at) => (
              <li key={at} class="ev">
                <span>
                  <Icon
                    name={
                      piece.parts[0]?.kind === "data"
                        ? "braces"
                        : piece.parts[0]?.kind === "text"
                          ? "text"
                          : "file"
                    }
                  />
                </span>
                <span class="cut">{oneLine(piece.name ?? piece.artifactId, 60)}</span>
                <span class="dim">{bytes(piece.parts.reduce((sum, part) => sum + sizeOf(part), 0))}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

function Raw({ task }: { readonly task: LiveTask }) {
  const [view, setView] = useState<DialectView>();
  const [problem, setProblem] = useState("");
  const { state } = task.log;
  useEffect(() => {
    const abort = new AbortController();
    readAdmin<{ dialects: readonly DialectView[] }>(
      `tasks/${segment(task.id)}/dialects`,
      {},
      abort.signal,
    ).then(
      ({ dialects }) => setView(dialects.find(one => one.name === "v1") ?? dialects[0]),
      error => abort.signal.aborted || setProblem(reasonOf(error)),
    );
    return () => abort.abort();
  }, [task.id, state]);
  if (problem) return <p class="drawer-note is-wrong">{problem}</p>;
  return view ? <JsonPanel title={`${view.title}, whole task`} value={view.task ?? view.problem} /> : null;
}

export function Drawer({
  conversation,
  isOpen,
  onClose,
}: {
  readonly conversation: Conversation;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const [tab, setTab] = useState("task");
  const task = conversation.tasks.value.at(-1);
  const agent = findAgent(conversation.agent);
  task?.version.value;
  return (
    <aside class={`drawer${isOpen ? " is-open" : ""}`} aria-label="Details">
      <div class="drawer-head">
        <Tabs
          label="Details"
          items={[
            { id: "task", label: "Task" },
            { id: "raw", label: "Raw" },
            { id: "card", label: "Agent" },
          ]}
          chosen={tab}
          onChoose={setTab}
        />
        <Button class="drawer-close" kind="ghost" icon="x" name="Close the details" onClick={onClose} />
      </div>
      <div class="scroll grow" tabIndex={0} role="group" aria-label="Details of the task">
        {tab === "task" && task && <TaskFacts task={task} conversation={conversation} />}
        {tab === "raw" && task && <Raw task={task} />}
        {tab !== "card" && !task && <p class="drawer-note dim">There is no task yet.</p>}
        {tab === "card" && agent && (
          <section>
            <h2>
              {oneLine(agent.name, 60)} {oneLine(agent.version, 20)}
            </h2>
            <p class="muted">{oneLine(agent.description, 400)}</p>
            <Pairs
              rows={[
                ["runtime", agent.runtime],
                ["streaming", agent.streaming ? "yes" : "no"],
                [
                  "answers",
                  agent.replies === "message"
                    ? "with messages"
                    : agent.replies === "either"
                      ? "with tasks or messages"
                      : "with tasks",
                ],
                ["input", oneLine(agent.inputModes.join(", "), 100)],
                ["output", oneLine(agent.outputModes.join(", "), 100)],
              ]}
            />
            <div class="actions">
              <a class="btn btn-small" href={href(["agents", agent.name])}>
                Open the agent
              </a>
            </div>
          </section>
        )}
      </div>
    </aside>
  );
}
