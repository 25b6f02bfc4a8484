import type { DatabaseSync } from "node:sqlite";
import type { AgentName, Scope } from "../../model/index.ts";
import { matchesOwner, type OwnerFilter } from "../../ports/index.ts";
import { toStoredScope } from "../kernel/stored-scope.ts";

interface OwnerRow {
  readonly id: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
}

/** Small integers for (tenant, principal, agent). There are few, so all of them are in memory. */
export function createOwnerTable(db: DatabaseSync) {
  const insert = db.prepare("INSERT INTO owner (tenant, principal, agent) VALUES (?, ?, ?) RETURNING id");
  const ids = new Map<string, number>();
  const rows = new Map<number, OwnerRow>();
  let uncommitted: OwnerRow[] = [];
  for (const row of db.prepare("SELECT id, tenant, principal, agent FROM owner").all()) add(row as never);

  function add(row: OwnerRow): void {
    ids.set(toKey(row, row.agent), row.id);
    rows.set(row.id, row);
  }

  return {
    /** Only inside a transaction: a new owner gets its row there. */
    idOf(scope: Scope, agent: AgentName): number {
      const known = ids.get(toKey(scope, agent));
      if (known !== undefined) return known;
      const { id } = insert.get(scope.tenant, scope.principal, agent) as { id: number };
      const row = { id, tenant: scope.tenant, principal: scope.principal, agent };
      uncommitted.push(row);
      add(row);
      return id;
    },
    find: (scope: Scope, agent: AgentName): number | undefined => ids.get(toKey(scope, agent)),
    commitNew(): void {
      if (uncommitted.length > 0) uncommitted = [];
    },
    rollBackNew(): void {
      for (const row of uncommitted) {
        ids.delete(toKey(row, row.agent));
        rows.delete(row.id);
      }
      uncommitted = [];
    },
    /** The scope that was authorized when the task was created. */
    scopeOf(id: number): Scope {
      return toStoredScope(rows.get(id) as OwnerRow);
    },
    /** undefined: all of them. */
    matching(filter: OwnerFilter): ReadonlySet<number> | undefined {
      if (!filter.agents && filter.tenant === undefined && filter.principal === undefined) return undefined;
      const found = [...rows.values()].filter(row => matchesOwner(filter, row, row.agent as AgentName));
      return new Set(found.map(row => row.id));
    },
    agentOf: (id: number): AgentName => (rows.get(id) as OwnerRow).agent as AgentName,
  };
}

export type OwnerTable = ReturnType<typeof createOwnerTable>;

const toKey = (owner: { tenant: string; principal: string }, agent: string): string =>
  `${owner.tenant}\n${owner.principal}\n${agent}`;
