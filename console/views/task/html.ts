import type { EventRow, TaskDetail } from "../../../src/admin/api.ts";
import { summaryOf } from "../../lib/event-words.ts";
import { clock, duration, shortId, visible } from "../../lib/format.ts";
import { stateLook } from "../../lib/states.ts";
import { TaskLog, textIn } from "../../lib/task-log.ts";

const esc = (text: string): string => visible(text).replace(/[&<>"']/g, one => `&#${one.charCodeAt(0)};`);

const STYLE = `:root{color-scheme:light dark}body{font:14px/1.55 system-ui,sans-serif;max-width:960px;margin:32px auto;padding:0 20px;background:light-dark(#fbfaf7,#161513);color:light-dark(#25221d,#eceae6)}
h1{font-size:22px;margin:0 0 4px}h2{font-size:15px;margin:32px 0 8px}dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 16px}dt{opacity:.7}dd{margin:0}
table{border-collapse:collapse;width:100%;font-size:12px}td,th{text-align:left;padding:4px 8px;border-bottom:1px solid light-dark(#e5e2da,#33302b);vertical-align:top;overflow-wrap:anywhere}
pre,code,.n{font-family:ui-monospace,monospace;font-size:12px}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:light-dark(#f3f1ec,#0f0e0d);padding:10px;border-radius:6px;margin:4px 0}
.said{padding:8px 12px;border-radius:10px;margin:8px 0;white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid light-dark(#e5e2da,#33302b)}.user{margin-left:20%;background:light-dark(#f3f1ec,#201e1b)}.who{opacity:.7;font-size:12px}summary{cursor:pointer}`;

function said(log: TaskLog, agent: string): string {
  return log.items
    .map(item => {
      if (item.kind === "user")
        return `<div class="said user"><div class="who">caller, ${clock(item.at)}</div>${esc(textIn(item.message.parts) || `${item.message.parts.length} parts`)}</div>`;
      if (item.kind === "artifact") {
        const data = item.piece.parts
          .filter(part => part.kind !== "text")
          .map(part =>
            part.kind === "data"
              ? `<pre>${esc(JSON.stringify(part.data, null, 2))}</pre>`
              : `<p>${esc(part.filename ?? "file")} (${esc(part.mediaType ?? part.kind)})</p>`,
          );
        return `<div class="said"><div class="who">${esc(agent)}, ${clock(item.at)}, ${esc(item.piece.name ?? item.piece.artifactId)}</div>${esc(textIn(item.piece.parts))}${data.join("")}</div>`;
      }
      if (item.kind === "status")
        return `<div class="said"><div class="who">${esc(stateLook(item.status.state).word)}, ${clock(item.at)}</div>${esc(item.status.message ? textIn(item.status.message.parts) : "")}</div>`;
      if (item.kind === "reply")
        return `<div class="said"><div class="who">${esc(agent)}</div>${esc(textIn(item.message.parts))}</div>`;
      return `<p class="who">${esc(item.kind === "steps" ? `steps: ${item.names.join(", ")}` : item.text)}</p>`;
    })
    .join("\n");
}

/** The task as one HTML file without scripts or links to other files: readable anywhere, with all events as JSON. */
export function toHtml(detail: TaskDetail, events: readonly EventRow[]): string {
  const { task, times } = detail;
  const log = new TaskLog();
  for (const event of events) log.apply(event);
  const facts: readonly (readonly [string, string])[] = [
    ["task", task.id],
    ["context", task.contextId],
    ["agent", task.agent],
    ["caller", `${task.principal} of ${task.tenant}`],
    ["state", stateLook(task.state).word],
    ["why", detail.why],
    ["created", new Date(task.createdAt).toISOString()],
    ["running", duration(times.runMs)],
    ["waiting for the caller", duration(times.inputMs)],
    ["interrupted", duration(times.interruptedMs)],
    ["queued", duration(times.queueMs)],
  ];
  const timeline = detail.entries
    .map(
      one =>
        `<tr><td class="n">${one.seq}</td><td class="n">${clock(one.at, true)}</td><td>${esc(one.what)}</td><td>${esc(one.text)}</td></tr>`,
    )
    .join("\n");
  const rows = events
    .map(
      one =>
        `<tr><td class="n">${one.seq}</td><td class="n">${clock(one.at, true)}</td><td>${esc(one.type)}</td><td><details><summary>${esc(summaryOf(one, 200))}</summary><pre>${esc(JSON.stringify(one.event, null, 2))}</pre></details></td></tr>`,
    )
    .join("\n");
  const csp = "default-src 'none'; style-src 'unsafe-inline'";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="Content-Security-Policy" content="${csp}"><title>${esc(task.title || shortId(task.id))}</title><style>${STYLE}</style></head><body>
<h1>${esc(task.title || "Task")}</h1><p>${esc(detail.why)}</p>
<dl>${facts.map(([name, value]) => `<dt>${esc(name)}</dt><dd>${esc(value)}</dd>`).join("")}</dl>
<h2>Conversation</h2>
${said(log, task.agent)}
<h2>Timeline</h2><table><thead><tr><th>event</th><th>time</th><th>what</th><th>text</th></tr></thead><tbody>${timeline}</tbody></table>
<h2>Events</h2>${events.length < task.events ? `<p>The first ${events.length} of ${task.events} events.</p>` : ""}<table><thead><tr><th>number</th><th>time</th><th>type</th><th>content</th></tr></thead><tbody>${rows}</tbody></table>
<p class="who">Exported from Dragoman, ${esc(new Date().toISOString())}</p>
</body></html>
`;
}
