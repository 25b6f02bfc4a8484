import type { DatabaseSync } from "node:sqlite";
import type { Seq, TaskId } from "../../model/index.ts";
import { NAME_KINDS, type NewName } from "../kernel/caller-names.ts";
import type { Backend } from "../single-node/backend.ts";
import type { OwnerTable } from "./owners.ts";

interface NameRow {
  readonly id: string;
  readonly seq: number;
  readonly digest: string | null;
}

/** Names that callers gave to tasks and calls. */
export function createNameTable(db: DatabaseSync, owners: OwnerTable) {
  const insert = db.prepare(
    "INSERT INTO name (owner, kind, name, task, seq, digest) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const selectName = db.prepare(
    "SELECT task.id, name.seq, name.digest FROM name JOIN task ON task.key = name.task " +
      "WHERE name.owner = ? AND name.kind = ? AND name.name = ?",
  );
  const selectAlias = db.prepare(
    "SELECT id, 1 AS seq, NULL AS digest FROM task WHERE owner = ? AND alias = ?",
  );

  const find: Backend["findByName"] = (scope, agent, { kind, name }) => {
    const owner = owners.find(scope, agent);
    if (owner === undefined) return null;
    const row = (
      kind === "alias" ? selectAlias.get(owner, name) : selectName.get(owner, NAME_KINDS[kind], name)
    ) as NameRow | undefined;
    if (!row) return null;
    const found = { taskId: row.id as TaskId, seq: row.seq as Seq };
    return row.digest === null ? found : { ...found, digest: row.digest };
  };

  return {
    find,
    /** Only inside a transaction. */
    write(owner: number, key: number, names: readonly NewName[]): void {
      for (const { kind, name, seq, digest = null } of names)
        if (kind !== "alias") insert.run(owner, NAME_KINDS[kind], name, key, seq, digest);
    },
  };
}
