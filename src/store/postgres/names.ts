import type { AgentName, Scope, Seq, TaskId } from "../../model/index.ts";
import type { CallerName, NamedTask } from "../../ports/index.ts";
import { KINDS } from "../kernel/name-kinds.ts";
import type { Asker } from "./database.ts";
import type { Owners } from "./owners.ts";
import type { Sheet } from "./write-set.ts";

const BY_ALIAS = "SELECT id, 1 AS seq, NULL AS digest FROM task WHERE owner = $1 AND alias = $2";
const BY_NAME =
  "SELECT task.id, name.seq, name.digest FROM name JOIN task ON task.key = name.task " +
  "WHERE name.owner = $1 AND name.kind = $2 AND name.name = $3";

export async function findNamed(
  db: Asker,
  owners: Owners,
  scope: Scope,
  agent: AgentName,
  { kind, name }: CallerName,
): Promise<NamedTask | null> {
  const owner = await owners.find(scope, agent);
  if (owner === undefined) return null;
  const [row] = await db.query<{ id: string; seq: number; digest: string | null }>(
    kind === "alias" ? BY_ALIAS : BY_NAME,
    kind === "alias" ? [owner, name] : [owner, KINDS[kind], name],
  );
  if (!row) return null;
  const found = { taskId: row.id as TaskId, seq: row.seq as Seq };
  return row.digest === null ? found : { ...found, digest: row.digest };
}

/** A name that is taken breaks the transaction: the constraint is the check. */
export async function writeNames(
  on: Asker,
  sheets: readonly Sheet[],
  written: ReadonlyMap<TaskId, { readonly key: number }>,
): Promise<void> {
  const rows = sheets.flatMap(({ draft, owner }) =>
    draft.names
      .filter(({ kind }) => kind !== "alias")
      .map(({ kind, name, seq, digest = null }) => [
        owner,
        KINDS[kind],
        name,
        written.get(draft.taskId)?.key,
        seq,
        digest,
      ]),
  );
  if (rows.length === 0) return;
  await on.query(
    "INSERT INTO name (owner, kind, name, task, seq, digest) " +
      "SELECT * FROM unnest($1::int[], $2::smallint[], $3::text[], $4::bigint[], $5::int[], $6::text[])",
    [0, 1, 2, 3, 4, 5].map(i => rows.map(row => row[i])),
  );
}
