import type { AgentName } from "../../../model/index.ts";
import { hostOf } from "../../../model/index.ts";
import type { Log, PushSubscription } from "../../../ports/index.ts";
import { contextKey } from "../../kernel/context-key.ts";
import type { MovedStore, MovedTask } from "../../kernel/moved-rows.ts";
import { type Asker, type Database, openDatabase } from "../database.ts";
import { migrate } from "../migrate.ts";
import { Owners } from "../owners.ts";

export interface EnterParts {
  readonly url: string;
  readonly from: MovedStore;
  readonly log: Log;
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface Entered {
  readonly tasks: number;
  /** Of these, so many were there already: an earlier move was broken off. */
  readonly known: number;
}

const CONNECTIONS_MAX = 2;
const STATEMENT_MS = 600_000;
/** Tasks that are moved in one transaction. */
const BATCH = 200;

/** Moves all that another store keeps into a database. What is there already stays, so it can be done again from the start. */
export async function enterStore(parts: EnterParts): Promise<Entered> {
  const { from, onProgress, signal } = parts;
  await migrate(parts);
  const db = await openDatabase({
    ...parts,
    durability: "power",
    connectionsMax: CONNECTIONS_MAX,
    statementMs: STATEMENT_MS,
  });
  try {
    const owners = new Owners(db);
    let [tasks, known, newest] = [0, 0, 0];
    let batch: MovedTask[] = [];
    const flush = async (): Promise<void> => {
      known += await enterTasks(db, owners, batch);
      tasks += batch.length;
      newest = batch.reduce((most, task) => Math.max(most, task.rev, task.arrived ?? 0), newest);
      batch = [];
      onProgress(tasks, from.counts.tasks);
    };
    for (const task of from.tasks()) {
      signal.throwIfAborted();
      batch.push(task);
      if (batch.length === BATCH) await flush();
    }
    await flush();
    // Revisions go on where the other store ended.
    await db.query("SELECT setval('revision', greatest($1, (SELECT last_value FROM revision)))", [
      newest + 1,
    ]);
    await enterRest(db, owners, from);
    return { tasks, known };
  } finally {
    await db.close();
  }
}

const INSERT = `
INSERT INTO task (id, owner, context, context_id, alone, state, seq, attempt, rev, xid, status_at, hidden, arrived,
  snapshot_seq, snapshot, since, alias)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, pg_current_xact_id(), $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (id) DO NOTHING RETURNING key`;

/** How many of them were there before. */
async function enterTasks(db: Database, owners: Owners, tasks: readonly MovedTask[]): Promise<number> {
  const ids = await Promise.all(
    tasks.map(({ tenant, principal, agent }) => owners.idOf({ tenant, principal }, agent as AgentName)),
  );
  return db.transact(async on => {
    let known = 0;
    for (const [i, task] of tasks.entries()) if (!(await enterTask(on, task, ids[i] as number))) known += 1;
    return known;
  });
}

async function enterTask(on: Asker, task: MovedTask, owner: number): Promise<boolean> {
  const seq = Math.max(task.snapshot_seq, task.segments.at(-1)?.last ?? 0);
  const [row] = await on.query<{ key: number }>(INSERT, [
    task.id,
    owner,
    contextKey(task.context_id),
    task.context_id,
    task.arrived === null,
    task.state,
    seq,
    attemptOf(task),
    task.rev,
    task.status_at,
    task.hidden,
    task.arrived ?? task.rev,
    task.snapshot_seq,
    task.snapshot,
    task.since > 0 ? task.snapshot_seq : 0,
    task.alias,
  ]);
  if (!row) return false;
  const { segments, names } = task;
  await on.query(
    "INSERT INTO segment (task, last, rev, xid, events) SELECT $1, last, rev, CASE WHEN rev IS NOT NULL THEN pg_current_xact_id() END, events " +
      "FROM unnest($2::int[], $3::bigint[], $4::text[]) AS s(last, rev, events)",
    [row.key, segments.map(one => one.last), segments.map(one => one.rev), segments.map(one => one.events)],
  );
  if (names.length > 0)
    await on.query(
      "INSERT INTO name (owner, kind, name, task, seq, digest) SELECT $1, kind, name, $2, seq, digest " +
        "FROM unnest($3::smallint[], $4::text[], $5::int[], $6::text[]) AS n(kind, name, seq, digest)",
      [
        owner,
        row.key,
        names.map(one => one.kind),
        names.map(one => one.name),
        names.map(one => one.seq),
        names.map(one => one.digest),
      ],
    );
  for (const delivery of task.deliveries) await enterDelivery(on, row.key, delivery);
  return true;
}

/** The newest start that the log tells of; where events are gone, the snapshot tells. */
function attemptOf({ segments, snapshot }: MovedTask): number {
  const told = segments.flatMap(({ events }) =>
    [...events.matchAll(/\{"type":"started","attempt":(\d+)\}/g)].map(found => Number(found[1])),
  );
  const kept = snapshot === null ? 0 : (JSON.parse(snapshot) as { readonly attempt: number }).attempt;
  return Math.max(kept, ...told, 0);
}

async function enterDelivery(on: Asker, task: number, delivery: PushSubscription): Promise<void> {
  const { config, failed } = delivery;
  await on.query(
    "INSERT INTO push (task, id, host, key, opening, config, set_at, start, place, until, state, failed_count, failed_since, " +
      "next_at, attempts) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
    [
      task,
      config.id,
      hostOf(config),
      delivery.key,
      delivery.opening,
      JSON.stringify(config),
      delivery.setAt,
      delivery.start,
      delivery.cursor,
      delivery.until ?? null,
      delivery.state,
      failed?.count ?? null,
      failed?.since ?? null,
      delivery.nextAt ?? null,
      JSON.stringify(delivery.attempts),
    ],
  );
}

async function enterRest(db: Database, owners: Owners, from: MovedStore): Promise<void> {
  const ownerOf = (one: { tenant: string; principal: string; agent: string }): Promise<number> =>
    owners.idOf(one, one.agent as AgentName);
  for (const one of from.shelves())
    await db.query(
      "INSERT INTO shelf (owner, shelf, key, value) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
      [await ownerOf(one), one.shelf, one.key, one.value],
    );
  for (const row of from.usage())
    for (const [counter, total] of Object.entries(row.usage))
      await db.query(
        "INSERT INTO usage (owner, day, context_id, counter, total) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        [await ownerOf(row), row.day, row.contextId, counter, total],
      );
  for (const one of from.tokens())
    await db.query(
      "INSERT INTO token (id, hash, name, principal, tenants, grants, agents, created, expires, revoked, used) " +
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
      [
        one.id,
        one.hash,
        one.name,
        one.principal,
        one.tenants,
        one.grants,
        one.agents,
        one.created,
        one.expires,
        one.revoked,
        one.used,
      ],
    );
}
