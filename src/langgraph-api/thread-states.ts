/** The routes of the state of a thread and its history. */
import { isObject } from "../lib/json.ts";
import { Fault } from "../model/index.ts";
import { readBoolean } from "../protocol/shared/fields.ts";
import { readFlag, readJsonObject, readPage } from "./fields.ts";
import { type ApiCall, type ApiReply, type ApiRoute, readBody } from "./route.ts";
import { readBefore, readCheckpoint, readUpdate } from "./state-body.ts";
import type { ThreadRecords } from "./thread-records.ts";
import type { ThreadStates } from "./thread-state.ts";
import { requireThread } from "./threads.ts";

export interface StateRouteParts {
  readonly threads: ThreadRecords;
  readonly states: ThreadStates;
  /** Readers of the whole thread are woken. */
  readonly onUpdated: (threadId: string) => void;
}

export function createStateRoutes({ threads, states, onUpdated }: StateRouteParts): readonly ApiRoute[] {
  async function get(call: ApiCall): Promise<ApiReply> {
    const thread = await requireThread(threads, call, "read");
    const { checkpoint_id } = call.vars;
    const at = checkpoint_id === undefined ? undefined : { checkpoint_id };
    return { json: await states.readState(call.scope, thread, at, readFlag(call.query, "subgraphs")) };
  }

  async function getAt(call: ApiCall): Promise<ApiReply> {
    const thread = await requireThread(threads, call, "read");
    const body = readBody(call);
    const subgraphs = readBoolean(body, "subgraphs", "") ?? false;
    return { json: await states.readState(call.scope, thread, readCheckpoint(body), subgraphs) };
  }

  async function update(call: ApiCall): Promise<ApiReply> {
    const body = readBody(call);
    const thread = await requireThread(threads, call, "update", { ...body });
    const steps = [[readUpdate(body, "")]];
    const checkpoint = await states.updateState(call.scope, thread, readCheckpoint(body), steps);
    onUpdated(thread.id);
    return { json: { checkpoint, configurable: checkpoint, ...checkpoint } };
  }

  async function patchState(call: ApiCall): Promise<ApiReply> {
    const thread = await requireThread(threads, call, "update");
    const metadata = readJsonObject(readBody(call), "metadata");
    await threads.change(call.scope, thread.id, old => ({
      ...old.resource.value,
      metadata: { ...old.metadata, ...metadata },
      config: old.config,
    }));
    return { json: null };
  }

  async function history(call: ApiCall): Promise<ApiReply> {
    const thread = await requireThread(threads, call, "read");
    const body = isObject(call.body) ? readBody(call) : Object.fromEntries(call.query);
    const before = readBefore(body.before);
    const at = readCheckpoint(body);
    const { limit } = readPage(body);
    const metadata = readJsonObject(body, "metadata");
    if (before && before.checkpoint_id === undefined)
      throw new Fault("invalid-params", "before must name a checkpoint", { field: "before" });
    const range = { limit, metadata, ...(before && { before }), ...(at && { at }) };
    return { json: await states.readHistory(call.scope, thread, range) };
  }

  const path = "/threads/{thread_id}";
  return [
    { verb: "GET", path: `${path}/state`, access: "read", serve: get },
    { verb: "POST", path: `${path}/state`, access: "write", serve: update },
    { verb: "PATCH", path: `${path}/state`, access: "write", serve: patchState },
    { verb: "GET", path: `${path}/state/{checkpoint_id}`, access: "read", serve: get },
    { verb: "POST", path: `${path}/state/checkpoint`, access: "read", serve: getAt },
    { verb: "GET", path: `${path}/history`, access: "read", serve: history },
    { verb: "POST", path: `${path}/history`, access: "read", serve: history },
  ];
}
