import type { EventPage, EventRow, TaskDetail } from "../../../src/admin/api.ts";
import { readAdmin, segment } from "../../lib/admin.ts";
import { shortId } from "../../lib/format.ts";
import { save } from "../../lib/save.ts";
import { toHtml } from "./html.ts";

const EVENTS_MAX = 20_000;

async function readAll(id: string): Promise<readonly EventRow[]> {
  const events: EventRow[] = [];
  for (;;) {
    const page = await readAdmin<EventPage>(`tasks/${segment(id)}/events`, {
      after: String(events.at(-1)?.seq ?? 0),
      max: "1000",
    });
    events.push(...page.events);
    if (page.events.length === 0 || (events.at(-1)?.seq ?? 0) >= page.lastSeq || events.length >= EVENTS_MAX)
      return events;
  }
}

export async function exportTask(detail: TaskDetail): Promise<void> {
  const events = await readAll(detail.task.id);
  save(`task-${shortId(detail.task.id)}.html`, toHtml(detail, events), "text/html");
}
