/** The history of a task from a running server, over its admin API. */
import { parseJson, readText, sendRequest, toHttpError } from "../../client/http.ts";
import { asList, asObject, asText } from "../../client/read.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { RecordedEvent, TaskId } from "../../model/index.ts";
import { ClientError } from "../terminal/errors.ts";
import { type Remote, toAccess } from "../terminal/target.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ReadHistory } from "./why.ts";

/** Events per request. */
const PAGE_MAX = 1_000;
const PAGES_MAX = 1_000;

export async function readRemoteHistory(
  terminal: Terminal,
  remote: Remote,
  taskId: string,
  signal: AbortSignal,
): Promise<ReadHistory> {
  const server = remote.target.base.replace(/\/agents\/[^/]+$/, "");
  const url = `${server}/admin/v1/tasks/${encodeURIComponent(taskId)}`;
  const get = async (path: string): Promise<JsonObject> => {
    const response = await sendRequest(
      toAccess(terminal, remote),
      { method: "GET", url: path, headers: {} },
      signal,
    );
    const text = await readText(path, response);
    if (!response.ok) throw toHttpError(path, response, text);
    return asObject(parseJson(path, text));
  };
  const task = asObject((await get(url)).task);
  const events: RecordedEvent[] = [];
  for (let page = 0; page < PAGES_MAX; page++) {
    const {
      events: rows,
      lastSeq,
      compactedSeq,
    } = await get(`${url}/events?after=${events.at(-1)?.seq ?? 0}&max=${PAGE_MAX}`);
    if (Number(compactedSeq) > 0)
      throw new ClientError(
        `The events of task ${taskId} were deleted by retention; "why" can no longer explain it`,
      );
    events.push(...(asList(rows).map(asObject) as unknown as readonly RecordedEvent[]));
    if (asList(rows).length === 0 || Number(events.at(-1)?.seq) >= Number(lastSeq)) break;
  }
  const scope = { tenant: asText(task.tenant) ?? "", principal: asText(task.principal) ?? "" };
  return { taskId: (asText(task.id) ?? taskId) as TaskId, scope, snapshot: undefined, events, pushes: [] };
}
