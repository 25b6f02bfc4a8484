import { useState } from "preact/hooks";
import type { Delivery } from "../../src/admin/api.ts";
import { mayAct, postAdmin } from "../lib/admin.ts";
import { reasonOf } from "../lib/api.ts";
import { ago, clock, duration, oneLine, plural, visible } from "../lib/format.ts";
import { href } from "../lib/router.ts";
import { toast } from "../lib/toast.ts";
import { AgentName, Button, Icon, useNow } from "./basics.tsx";

const LOOKS: Readonly<
  Record<Delivery["state"], { readonly look: string; readonly icon: string; readonly word: string }>
> = {
  waiting: { look: "submitted", icon: "clock", word: "Waiting" },
  failing: { look: "working", icon: "working", word: "Retrying" },
  done: { look: "completed", icon: "completed", word: "Delivered" },
  dead: { look: "failed", icon: "failed", word: "Given up" },
};

export function DeliveryState({ state }: { readonly state: Delivery["state"] }) {
  const { look, icon, word } = LOOKS[state];
  return (
    <span class={`st is-${look}`}>
      <Icon name={icon} />
      {word}
    </span>
  );
}

function answerOf(delivery: Delivery): string {
  const last = delivery.attempts.at(-1);
  if (!last) return "–";
  return last.status === null ? "no response" : String(last.status);
}

function nextOf(delivery: Delivery, now: number): string {
  if (delivery.state === "failing" && delivery.nextAt !== null)
    return delivery.nextAt <= now
      ? "now"
      : `in ${duration(Math.ceil((delivery.nextAt - now) / 1000) * 1000)}`;
  return delivery.state === "waiting" ? "at the next event" : "–";
}

async function act(delivery: Delivery, what: "redeliver" | "give-up", from?: "start"): Promise<void> {
  const { taskId, configId } = delivery;
  try {
    await postAdmin(
      `deliveries/${what}`,
      what === "redeliver" ? { taskId, configId, ...(from && { from }) } : { taskId, configId },
    );
    toast(what === "redeliver" ? "Delivering again" : "Given up");
  } catch (error) {
    toast(reasonOf(error), { isError: true });
  }
}

function Attempts({ delivery }: { readonly delivery: Delivery }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Up to event</th>
          <th scope="col">Response</th>
          <th scope="col" class="num">
            Latency
          </th>
          <th scope="col">Error</th>
        </tr>
      </thead>
      <tbody>
        {delivery.attempts.toReversed().map((one, at) => (
          <tr key={at}>
            <td>{clock(one.at, true)}</td>
            <td>{one.seq}</td>
            <td>{one.status ?? "no response"}</td>
            <td class="num">{duration(one.latencyMs)}</td>
            <td class="cut">{one.error ? oneLine(one.error, 120) : ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DeliveryRow({
  delivery,
  now,
  onChanged,
}: {
  readonly delivery: Delivery;
  readonly now: number;
  readonly onChanged: () => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const run = async (what: "redeliver" | "give-up", from?: "start"): Promise<void> => {
    await act(delivery, what, from);
    onChanged();
  };
  const last = delivery.attempts.at(-1);
  return (
    <>
      <tr>
        <td>
          <DeliveryState state={delivery.state} />
        </td>
        <td class="what">
          <span class="task-what">
            <span class="first cut mono">{visible(delivery.url)}</span>
            <span class="dim cut">
              up to event {delivery.deliveredSeq}
              {delivery.events === "status" ? ", no artifacts" : ""}
            </span>
          </span>
        </td>
        <td class="c-agent">
          <a href={href(["tasks", delivery.taskId])}>
            <AgentName name={delivery.agent} />
          </a>
        </td>
        <td class="c-tries">
          <button
            class="tries"
            type="button"
            aria-expanded={isOpen}
            aria-label={`${plural(delivery.attempts.length, "attempt")}: show`}
            onClick={() => setOpen(!isOpen)}
          >
            {delivery.attempts.slice(-12).map((one, at) => (
              <i key={at} class={one.status !== null && one.status < 300 ? "" : "bad"} />
            ))}
            {delivery.state === "failing" && <i class="next" />}
          </button>
        </td>
        <td class="c-x mono">{answerOf(delivery)}</td>
        <td class="c-x num">{last ? duration(last.latencyMs) : "–"}</td>
        <td class="num c-time">{nextOf(delivery, now)}</td>
        <td class="row-actions">
          {delivery.state === "failing" && (
            <Button small label="Now" disabled={!mayAct()} onClick={() => run("redeliver")} />
          )}
          {delivery.state === "failing" && (
            <Button small label="Give up" disabled={!mayAct()} onClick={() => run("give-up")} />
          )}
          {(delivery.state === "dead" || delivery.state === "done") && (
            <Button
              small
              label="Redeliver"
              disabled={!mayAct()}
              onClick={() => run("redeliver", delivery.state === "done" ? "start" : undefined)}
            />
          )}
        </td>
      </tr>
      {isOpen && (
        <tr class="attempts-row">
          <td colSpan={8}>
            <Attempts delivery={delivery} />
            <p class="dim attempts-note">
              Set {ago(Date.now() - delivery.setAt)} ago
              {delivery.has.length > 0 ? `, with ${delivery.has.join(", ")}` : ""}
              {delivery.failures > 0 ? `, ${plural(delivery.failures, "failure")} in a row` : ""}.
            </p>
          </td>
        </tr>
      )}
    </>
  );
}

export function DeliveryTable({
  deliveries,
  onChanged,
}: {
  readonly deliveries: readonly Delivery[];
  readonly onChanged: () => void;
}) {
  const now = useNow(deliveries.some(one => one.state === "failing"));
  return (
    <table class="table tasks deliveries">
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Webhook</th>
          <th scope="col">Agent</th>
          <th scope="col">Attempts</th>
          <th scope="col">Response</th>
          <th scope="col" class="num">
            Latency
          </th>
          <th scope="col" class="num">
            Next try
          </th>
          <th scope="col">
            <span class="sr">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map(one => (
          <DeliveryRow key={`${one.taskId} ${one.configId}`} delivery={one} now={now} onChanged={onChanged} />
        ))}
      </tbody>
    </table>
  );
}
