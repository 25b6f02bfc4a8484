import { type AgentName, hostOf } from "../../../model/index.ts";
import type { JobObserver, Log, PushSubscription } from "../../../ports/index.ts";
import { contextKey } from "../../kernel/context-key.ts";
import type { ExportedTask, StoreExport } from "../../kernel/store-export.ts";
import { type Database, openDatabase, type Queryable } from "../database.ts";
import { migrate } from "../migrate.ts";
import { OwnerIds } from "../owners.ts";

export interface ImportParts extends JobObserver {
  readonly url: string;
  readonly from: StoreExport;
  readonly log: Log;
}

export interface ImportResult {
  readonly tasks: number;
  /** How many of them existed already, because an earlier import was interrupted. `dragoman migrate --json` prints it. */
  readonly known: number;
}

const CONNECTIONS_MAX = 2;
const STATEMENT_MS = 600_000;
/** Tasks that are imported in one transaction. */
const BATCH_MAX = 200;

/** Imports another store into a database. Existing rows stay, so an interrupted import can be repeated from the start. */
export async function importStore(parts: ImportParts): Promise<ImportResult> {
  const { from, onProgress, signal } = parts;
  await migrate(parts);
  const db = await openDatabase({
    ...parts,
    durability: "power",
    connectionsMax: CONNECTIONS_MAX,
    statementMs: STATEMENT_MS,
  });
  try {
    const owners = new OwnerIds(db);
    let [tasks, existing, newest] = [0, 0, 0];
    let batch: ExportedTask[] = [];
    const flush = async (): Promise<void> => {
      existing += await importTasks(db, owners, batch);
      tasks += batch.length;
      newest = batch.reduce((max, task) => Math.max(max, task.rev, task.arrived ?? 0), newest);
      batch = [];
      onProgress(tasks, from.counts.tasks);
    };
    for (const task of from.tasks()) {
      signal.throwIfAborted();
      batch.push(task);
      if (batch.length === BATCH_MAX) await flush();
    }
    await flush();
    // Revisions continue after those of the other store.
    await db.query("SELECT setval('revision', greatest($1, (SELECT last_value FROM revision)))", [
      newest + 1,
    ]);
    await importBesideTasks(db, owners, from);
    return { tasks, known: existing };
  } finally {
    await db.close();
  }
}

const INSERT = `
INSERT INTO task (id, owner, context, context_id, alone, state, seq, attempt, rev, xid, status_at, hidden, arrived,
  snapshot_seq, snapshot, since, alias)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, pg_current_xact_id(), $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (id) DO NOTHING RETURNING key`;

/** Returns how many of them existed already. */
async function importTasks(db: Database, owners: OwnerIds, tasks: readonly ExportedTask[]): Promise<number> {
  const ids = await Promise.all(
    tasks.map(({ tenant, principal, agent }) =>
      owners.getOrCreate({ tenant, principal }, agent as AgentName),
    ),
  );
  return db.transact(async tx => {
    let existing = 0;
    for (const [i, task] of tasks.entries())
      if (!(await importTask(tx, task, ids[i] as number))) existing += 1;
    return existing;
  });
}

/** false: the task existed already. */
async function importTask(tx: Queryable, task: ExportedTask, owner: number): Promise<boolean> {
  const seq = Math.max(task.snapshot_seq, task.segments.at(-1)?.last ?? 0);
  const [row] = await tx.query<{ key: number }>(INSERT, [
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
  await tx.query(
    "INSERT INTO segment (task, last, rev, xid, events) SELECT $1, last, rev, CASE WHEN rev IS NOT NULL THEN pg_current_xact_id() END, events " +
      "FROM unnest($2::int[], $3::bigint[], $4::text[]) AS s(last, rev, events)",
    [
      row.key,
      segments.map(({ last }) => last),
      segments.map(({ rev }) => rev),
      segments.map(({ events }) => events),
    ],
  );
  if (names.length > 0)
    await tx.query(
      "INSERT INTO name (owner, kind, name, task, seq, digest) SELECT $1, kind, name, $2, seq, digest " +
        "FROM unnest($3::smallint[], $4::text[], $5::int[], $6::text[]) AS n(kind, name, seq, digest)",
      [
        owner,
        row.key,
        names.map(({ kind }) => kind),
        names.map(({ name }) => name),
        names.map(({ seq }) => seq),
        names.map(({ digest }) => digest),
      ],
    );
  for (const push of task.pushes) await importPush(tx, row.key, push);
  return true;
}

/** The newest attempt in the log; of a compacted log, the attempt in the snapshot. */
function attemptOf({ segments, snapshot }: ExportedTask): number {
  const ofLog = segments.flatMap(({ events }) =>
    [...events.matchAll(/\{"type":"started","attempt":(\d+)\}/g)].map(match => Number(match[1])),
  );
  const ofSnapshot = snapshot === null ? 0 : (JSON.parse(snapshot) as { readonly attempt: number }).attempt;
  return Math.max(ofSnapshot, ...ofLog, 0);
}

async function importPush(tx: Queryable, task: number, push: PushSubscription): Promise<void> {
  const { config, failed } = push;
  await tx.query(
    "INSERT INTO push (task, id, host, key, opening, config, set_at, start, place, until, state, failed_count, failed_since, " +
      "next_at, attempts) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
    [
      task,
      config.id,
      hostOf(config),
      push.key,
      push.opening,
      JSON.stringify(config),
      push.setAt,
      push.start,
      push.cursor,
      push.until ?? null,
      push.state,
      failed?.count ?? null,
      failed?.since ?? null,
      push.nextAt ?? null,
      JSON.stringify(push.attempts),
    ],
  );
}

async function importBesideTasks(db: Database, owners: OwnerIds, from: StoreExport): Promise<void> {
  const getOwner = (row: { tenant: string; principal: string; agent: string }): Promise<number> =>
    owners.getOrCreate(row, row.agent as AgentName);
  for (const item of from.storage())
    await db.query(
      "INSERT INTO shelf (owner, shelf, key, value) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
      [await getOwner(item), item.shelf, item.key, item.value],
    );
  for (const one of from.resources())
    await db.query(
      "INSERT INTO resource (tenant, principal, kind, id, created_at, updated_at, expires_at, rev, value) " +
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
      [
        one.tenant,
        one.principal,
        one.kind,
        one.id,
        one.created_at,
        one.updated_at,
        one.expires_at,
        one.rev,
        one.value,
      ],
    );
  await importItems(db, from);
  for (const row of from.usage())
    for (const [counter, total] of Object.entries(row.usage))
      await db.query(
        "INSERT INTO usage (owner, day, context_id, counter, total) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        [await getOwner(row), row.day, row.contextId, counter, total],
      );
  for (const token of from.tokens())
    await db.query(
      "INSERT INTO token (id, hash, name, principal, tenants, grants, agents, created, expires, revoked, used) " +
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
      [
        token.id,
        token.hash,
        token.name,
        token.principal,
        token.tenants,
        token.grants,
        token.agents,
        token.created,
        token.expires,
        token.revoked,
        token.used,
      ],
    );
}

/** Long-term memory and schedules, which belong to callers and not to agents. */
async function importItems(db: Database, from: StoreExport): Promise<void> {
  for (const item of from.items())
    await db.query(
      "INSERT INTO item (tenant, principal, namespace, key, value, vectors, created_at, updated_at, ttl_ms, expires_at) " +
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING",
      [
        item.tenant,
        item.principal,
        item.namespace,
        item.key,
        item.value,
        item.vectors,
        item.created_at,
        item.updated_at,
        item.ttl_ms,
        item.expires_at,
      ],
    );
  for (const one of from.schedules())
    await db.query(
      "INSERT INTO schedule (tenant, principal, id, next_at, created_at, updated_at, body) " +
        "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
      [one.tenant, one.principal, one.id, one.next_at, one.created_at, one.updated_at, one.body],
    );
}
