import { useEffect, useState } from "preact/hooks";
import type { AgentRow, CardForm } from "../../../src/admin/api.ts";
import { agents, loadAgents, me, readAdmin, segment } from "../../lib/admin.ts";
import { reasonOf } from "../../lib/api.ts";
import { useCrumbs } from "../../lib/crumbs.ts";
import { onChange } from "../../lib/feed.ts";
import { count, oneLine, plural } from "../../lib/format.ts";
import { useKeys } from "../../lib/keys.ts";
import { chosenInQuery, go, href, inQuery, place, setQuery } from "../../lib/router.ts";
import { Bones, Button, Empty, Icon, Monogram, Note, Pairs, Search, Tabs } from "../../parts/basics.tsx";
import { JsonPanel } from "../../parts/json.tsx";
import { Connect } from "./connect.tsx";

const running = (agent: AgentRow): number => agent.tasks.byState.working + agent.tasks.byState.submitted;

function Health({ agent }: { readonly agent: AgentRow }) {
  const active = running(agent);
  if (active > 0)
    return (
      <span class="st is-working">
        <Icon name="working" />
        {count(active)} running
      </span>
    );
  if (agent.health === "failing")
    return (
      <span class="st is-failed">
        <Icon name="failed" />
        last run failed
      </span>
    );
  return <span class="dim">{agent.health === "ok" ? "healthy" : "idle"}</span>;
}

/** All agents that the caller may see; the chosen one beside them. */
export function Agents() {
  const name = place.value.path[1] ?? "";
  const [find, setFind] = useState("");
  const all = agents.value;
  const chosen = all?.find(one => one.name === name);
  const shown =
    all?.filter(one => `${one.name} ${one.description}`.toLowerCase().includes(find.toLowerCase())) ?? [];
  useCrumbs({ label: "Agents", href: href(["agents"]) }, ...(name ? [name] : []));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onChange(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void loadAgents().catch(() => {});
      }, 1500);
    });
    void loadAgents().catch(() => {});
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  const at = shown.findIndex(one => one.name === name);
  const step = (by: number): void => {
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    if (next) go(["agents", next.name]);
  };
  useKeys([
    { key: "j", label: "Next agent", run: () => step(1) },
    { key: "k", label: "Previous agent", run: () => step(-1) },
    { key: "c", label: "Chat with the agent", run: () => go(["chat"], { agent: name }) },
  ]);
  return (
    <div class={`page${name ? " has-agent" : ""}`}>
      <div class="agents">
        <div class={`list-pane${name ? " is-behind" : ""}`}>
          <header class="page-head">
            <h1>Agents</h1>
            <span class="lead">{all ? `${all.length} served` : ""}</span>
          </header>
          {(all?.length ?? 0) > 8 && (
            <Search class="ag-search" label="Search agents" value={find} onInput={setFind} />
          )}
          {!all && <Bones />}
          {all?.length === 0 && (
            <Empty icon="agents" title="No agents">
              <p>This caller may use no agent of this server.</p>
            </Empty>
          )}
          {shown.length > 0 && (
            <nav class="card agent-list" aria-label="Agents">
              {shown.map(one => (
                <a
                  key={one.name}
                  class="ag"
                  href={href(["agents", one.name])}
                  aria-current={one.name === name ? "true" : undefined}
                >
                  <Monogram name={one.name} size="mid" />
                  <span class="ag-name cut">
                    {oneLine(one.name, 40)}
                    {one.isDefault && <span class="tag">default</span>}
                  </span>
                  <Health agent={one} />
                  <span class="ag-text cut">{oneLine(one.description, 120)}</span>
                </a>
              ))}
            </nav>
          )}
        </div>
        {chosen ? (
          <OneAgent key={chosen.name} agent={chosen} />
        ) : all && name ? (
          <Empty icon="agents" title="Agent not found">
            <p>There is no agent {oneLine(name, 60)} on this server, or this caller may not use it.</p>
          </Empty>
        ) : (
          <Overview all={all ?? []} />
        )}
      </div>
    </div>
  );
}

function Overview({ all }: { readonly all: readonly AgentRow[] }) {
  const waits = all.reduce(
    (sum, one) => sum + one.tasks.byState["input-required"] + one.tasks.byState["auth-required"],
    0,
  );
  const total = all.reduce((sum, one) => sum + one.tasks.total, 0);
  const busy = all.reduce((sum, one) => sum + running(one), 0);
  return (
    <div class="empty card hide-phone">
      <Icon name="agents" />
      <h2>Choose an agent</h2>
      <p>
        {plural(total, "task")} of {plural(all.length, "agent")}: {count(busy)} running, {count(waits)}{" "}
        waiting for a person.
      </p>
    </div>
  );
}

function OneAgent({ agent }: { readonly agent: AgentRow }) {
  const [cards, setCards] = useState<readonly CardForm[]>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    readAdmin<{ cards: readonly CardForm[] }>(`agents/${segment(agent.name)}/cards`, {}, abort.signal).then(
      read => setCards(read.cards),
      error => abort.signal.aborted || setProblem(reasonOf(error)),
    );
    return () => abort.abort();
  }, [agent.name]);
  const tab = chosenInQuery("tab", ["card", "connect", "facts"]);
  const form =
    cards?.find(one => one.form === inQuery("form")) ?? cards?.find(one => one.form === "v1") ?? cards?.[0];
  const findings = form?.findings.filter(one => one.level !== "note").length ?? 0;
  const signature = form?.signatures[0];
  return (
    <section class="card ag-one" aria-label={agent.name}>
      <header class="ag-head">
        <Monogram name={agent.name} size="large" />
        <div class="grow">
          <div class="task-title">
            <h1>{oneLine(agent.name, 60)}</h1>
            <span class="dim">{oneLine(agent.version, 20)}</span>
            {signature && (
              <span class={`st st-pill is-${signature.isValid ? "completed" : "failed"}`}>
                <Icon name="shield" />
                {signature.isValid ? "Signature verified" : "Signature not valid"}
              </span>
            )}
          </div>
          <p class="muted">{oneLine(agent.description, 300)}</p>
        </div>
        <div class="actions">
          <a class="btn btn-primary" href={href(["chat"], { agent: agent.name })}>
            <Icon name="chat" />
            Chat
          </a>
          <a class="btn" href={href(["tasks"], { agent: agent.name })}>
            <Icon name="tasks" />
            Tasks <span class="count">{count(agent.tasks.total)}</span>
          </a>
        </div>
      </header>
      <Tabs
        class="ag-tabs"
        label="Agent"
        items={[
          { id: "card", label: "Card", count: findings || undefined },
          { id: "connect", label: "Connect" },
          { id: "facts", label: "Skills and runs" },
        ]}
        chosen={tab}
        onChoose={id => setQuery({ tab: id })}
      />
      {problem && (
        <div class="card-body">
          <Note>{problem}</Note>
        </div>
      )}
      {tab === "card" && (form && cards ? <Card form={form} cards={cards} /> : !problem && <Bones />)}
      {tab === "connect" && <Connect agent={agent} />}
      {tab === "facts" && <Facts agent={agent} />}
    </section>
  );
}

const LEVELS = {
  error: ["failed", "failed"],
  warning: ["input", "alert"],
  note: ["accent", "info"],
} as const;

/** Each signature covers one form of the card: the clients of each version verify theirs. */
function Signatures({ all }: { readonly all: CardForm["signatures"] }) {
  const isValid = all.every(one => one.isValid);
  return (
    <div class={`finding is-${isValid ? "completed" : "failed"}`}>
      <Icon name={isValid ? "completed" : "failed"} />
      <h3>{isValid ? "Signed by this server" : "Signature not valid"}</h3>
      {[...new Set(all.map(signatureText))].map(text => (
        <p key={text}>{text}</p>
      ))}
      <div class="foot">
        <span>A2A 1.0 §8.4, Agent Card Signing</span>
        <code>{plural(all.length, "signature")}</code>
      </div>
    </div>
  );
}

const signatureText = ({ algorithm, keyId, text }: CardForm["signatures"][number]): string =>
  [[algorithm, keyId && `key ${keyId}`].filter(Boolean).join(", "), text].filter(Boolean).join(". ");

function Card({ form, cards }: { readonly form: CardForm; readonly cards: readonly CardForm[] }) {
  return (
    <div class="ag-cols">
      <div>
        <div class="card-head">
          <h2>Lint</h2>
          <span class="count">
            {plural(form.findings.length, "finding")}, {plural(form.passed, "check")} passed
          </span>
        </div>
        {form.findings.map((one, at) => {
          const [look, icon] = LEVELS[one.level];
          return (
            <div key={at} class={`finding is-${look}`}>
              <Icon name={icon} />
              <h3>{one.title}</h3>
              <p>{one.text}</p>
              <div class="foot">
                <span>{one.section}</span>
                <code>{one.path}</code>
              </div>
            </div>
          );
        })}
        {form.signatures.length > 0 && <Signatures all={form.signatures} />}
        {form.signatures.length === 0 && (
          <div class="finding is-accent">
            <Icon name="info" />
            <h3>Not signed</h3>
            <p>
              Start the server with <code>--sign-cards</code> to sign its cards.
            </p>
            <div class="foot">
              <span>A2A 1.0 §8.4, Agent Card Signing</span>
            </div>
          </div>
        )}
      </div>
      <div class="card-json">
        <div class="card-head">
          <Tabs
            segmented
            label="Form of the card"
            items={cards.map(one => ({ id: one.form, label: one.title }))}
            chosen={form.form}
            onChoose={id => setQuery({ form: id })}
          />
        </div>
        <JsonPanel title={`GET ${form.path}`} value={form.card} open={5} />
      </div>
    </div>
  );
}

function Facts({ agent }: { readonly agent: AgentRow }) {
  const { runs } = agent;
  return (
    <div class="ag-cols">
      <div>
        <div class="card-head">
          <h2>Skills</h2>
          <span class="count">{agent.skills.length}</span>
        </div>
        {agent.skills.map(skill => (
          <div key={skill.id} class="skill">
            <p>
              <b class="strong">{oneLine(skill.name, 80)}</b>{" "}
              <span class="muted">{oneLine(skill.description, 300)}</span>
            </p>
            {skill.tags.length > 0 && (
              <div class="chips">
                {skill.tags.slice(0, 12).map(tag => (
                  <span key={tag} class="tag">
                    {oneLine(tag, 30)}
                  </span>
                ))}
              </div>
            )}
            <div class="chips">
              {skill.examples.slice(0, 6).map(text => (
                <a key={text} class="chip" href={href(["chat"], { agent: agent.name, text })}>
                  <Icon name="play" />
                  {oneLine(text, 60)}
                </a>
              ))}
            </div>
          </div>
        ))}
        {agent.skills.length === 0 && <p class="card-body dim">The agent declares no skills.</p>}
      </div>
      <div>
        <div class="card-head">
          <h2>Facts</h2>
        </div>
        <div class="card-body">
          <Pairs
            rows={[
              ["runtime", agent.runtime],
              [
                "health",
                agent.health === "ok"
                  ? "Healthy"
                  : agent.health === "failing"
                    ? "The last run failed"
                    : "No run yet",
              ],
              [
                "access",
                agent.access === "public" || !me.value?.needsToken
                  ? "open: no credentials are required"
                  : "callers authenticate",
              ],
              ["streaming", agent.streaming ? "yes" : "no"],
              ["push notifications", agent.pushNotifications ? "yes" : "no"],
              [
                "answers",
                agent.replies === "message"
                  ? "with bare messages"
                  : agent.replies === "either"
                    ? "with tasks or messages"
                    : "with tasks",
              ],
              ["extended card", agent.hasExtendedCard ? "yes" : "no"],
              ["input", agent.inputModes.join(", ")],
              ["output", agent.outputModes.join(", ")],
            ]}
          />
        </div>
        <div class="card-head is-top">
          <h2>Tasks</h2>
          <span class="count">{count(agent.tasks.total)}</span>
        </div>
        <div class="card-body">
          <Pairs
            rows={Object.entries(agent.tasks.byState).map(
              ([state, amount]) =>
                [
                  state,
                  <a key={state} class="link" href={href(["tasks"], { agent: agent.name, state })}>
                    {count(amount)}
                  </a>,
                ] as const,
            )}
          />
        </div>
        {runs && (
          <>
            <div class="card-head is-top">
              <h2>Runs on node {runs.node}</h2>
            </div>
            <div class="card-body">
              <Pairs
                rows={[
                  ["finished", count(runs.finished)],
                  ["failed", count(runs.failed)],
                  ["interrupted", count(runs.crashes)],
                ]}
              />
            </div>
          </>
        )}
        {agent.inputSchema && <JsonPanel title="Input schema" value={agent.inputSchema} />}
        <div class="card-body">
          <Button
            small
            icon="chat"
            label="Chat with this agent"
            onClick={() => go(["chat"], { agent: agent.name })}
          />
        </div>
      </div>
    </div>
  );
}
