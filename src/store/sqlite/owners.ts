import type { DatabaseSync } from "node:sqlite";
import type { AgentName, Scope } from "../../model/index.ts";

interface OwnerRow {
  readonly id: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
}

/** Small integers for (tenant, principal, agent). Few, so they are kept in memory. */
export function createOwners(db: DatabaseSync) {
  const insert = db.prepare("INSERT INTO owner (tenant, principal, agent) VALUES (?, ?, ?) RETURNING id");
  const ids = new Map<string, number>();
  const rows = new Map<number, OwnerRow>();
  let fresh: OwnerRow[] = [];
  for (const row of db.prepare("SELECT id, tenant, principal, agent FROM owner").all()) keep(row as never);

  function keep(row: OwnerRow): void {
    ids.set(keyOf(row, row.agent), row.id);
    rows.set(row.id, row);
  }

  return {
    /** Only inside a commit: an owner seen for the first time gets its row there. */
    idOf(scope: Scope, agent: AgentName): number {
      const known = ids.get(keyOf(scope, agent));
      if (known !== undefined) return known;
      const { id } = insert.get(scope.tenant, scope.principal, agent) as { id: number };
      const row = { id, tenant: scope.tenant, principal: scope.principal, agent };
      fresh.push(row);
      keep(row);
      return id;
    },
    find: (scope: Scope, agent: AgentName): number | undefined => ids.get(keyOf(scope, agent)),
    keepNew(): void {
      if (fresh.length > 0) fresh = [];
    },
    /** The commit failed, so these owners do not exist. */
    forgetNew(): void {
      for (const row of fresh) {
        ids.delete(keyOf(row, row.agent));
        rows.delete(row.id);
      }
      fresh = [];
    },
    /** Brings back the scope that was admitted when the task was made. */
    scopeOf(id: number): Scope {
      const { tenant, principal } = rows.get(id) as OwnerRow;
      return { tenant, principal } as Scope;
    },
    agentOf: (id: number): AgentName => (rows.get(id) as OwnerRow).agent as AgentName,
  };
}

export type Owners = ReturnType<typeof createOwners>;

const keyOf = (owner: { tenant: string; principal: string }, agent: string): string =>
  `${owner.tenant}\n${owner.principal}\n${agent}`;
