import type { DatabaseSync } from "node:sqlite";
import type { Scope, Seq, TaskId } from "../../model/index.ts";
import { KINDS } from "../kernel/name-kinds.ts";
import type { Journal, NewName } from "../single-node/backend.ts";
import type { Owners } from "./owners.ts";

interface NameRow {
  readonly id: string;
  readonly seq: number;
  readonly digest: string | null;
}

/** Names that callers gave to tasks and calls. */
export function createNameTable(db: DatabaseSync, owners: Owners) {
  const insert = db.prepare(
    "INSERT INTO name (owner, kind, name, task, seq, digest) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const select = db.prepare(
    "SELECT task.id, name.seq, name.digest FROM name JOIN task ON task.key = name.task " +
      "WHERE name.owner = ? AND name.kind = ? AND name.name = ?",
  );
  const byAlias = db.prepare("SELECT id, 1 AS seq, NULL AS digest FROM task WHERE owner = ? AND alias = ?");
  const find: Journal["named"] = (scope: Scope, agent, { kind, name }) => {
    const owner = owners.find(scope, agent);
    if (owner === undefined) return null;
    const row = (kind === "alias" ? byAlias.get(owner, name) : select.get(owner, KINDS[kind], name)) as
      | NameRow
      | undefined;
    if (!row) return null;
    const found = { taskId: row.id as TaskId, seq: row.seq as Seq };
    return row.digest === null ? found : { ...found, digest: row.digest };
  };
  return {
    find,
    write(owner: number, key: number, names: readonly NewName[]): void {
      for (const { kind, name, seq, digest = null } of names)
        if (kind !== "alias") insert.run(owner, KINDS[kind], name, key, seq, digest);
    },
  };
}
