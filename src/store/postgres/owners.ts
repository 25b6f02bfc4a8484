import { type AgentName, LIMITS, type Scope } from "../../model/index.ts";
import { toStoredScope } from "../kernel/stored-scope.ts";
import type { Queryable } from "./database.ts";

interface OwnerRow {
  readonly id: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
}

type OwnerScope = Pick<Scope, "tenant" | "principal">;

/** The integer ids of (tenant, principal, agent). They never change, so the newest ones are cached. */
export class OwnerIds {
  readonly #db: Queryable;
  readonly #ids = new Map<string, number>();
  readonly #rows = new Map<number, OwnerRow>();

  constructor(db: Queryable) {
    this.#db = db;
  }

  async getOrCreate(scope: OwnerScope, agent: AgentName): Promise<number> {
    const id = await this.find(scope, agent);
    if (id !== undefined) return id;
    await this.#db.query(
      "INSERT INTO owner (tenant, principal, agent) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      [scope.tenant, scope.principal, agent],
    );
    return (await this.find(scope, agent)) as number;
  }

  async find(scope: OwnerScope, agent: AgentName): Promise<number | undefined> {
    const cached = this.#ids.get(keyOf(scope, agent));
    if (cached !== undefined) return cached;
    const [row] = await this.#db.query<OwnerRow>(
      "SELECT id, tenant, principal, agent FROM owner WHERE tenant = $1 AND principal = $2 AND agent = $3",
      [scope.tenant, scope.principal, agent],
    );
    if (row) this.#cache(row);
    return row?.id;
  }

  /** Must be called before `scopeOf`. */
  async load(ids: Iterable<number>): Promise<void> {
    const missing = [...new Set(ids)].filter(id => !this.#rows.has(id));
    if (missing.length === 0) return;
    const sql = "SELECT id, tenant, principal, agent FROM owner WHERE id = ANY($1)";
    for (const row of await this.#db.query<OwnerRow>(sql, [missing])) this.#cache(row);
  }

  /** Restores the scope that was authenticated when the task was created. */
  scopeOf(id: number): Scope {
    return toStoredScope(this.#rows.get(id) as OwnerRow);
  }

  agentOf(id: number): AgentName {
    return (this.#rows.get(id) as OwnerRow).agent as AgentName;
  }

  #cache(row: OwnerRow): void {
    this.#ids.set(keyOf(row, row.agent), row.id);
    this.#rows.set(row.id, row);
    if (this.#rows.size <= LIMITS.callersMax) return;
    const [oldest] = this.#rows.values() as Iterable<OwnerRow> as [OwnerRow];
    this.#rows.delete(oldest.id);
    this.#ids.delete(keyOf(oldest, oldest.agent));
  }
}

const keyOf = (owner: { tenant: string; principal: string }, agent: string): string =>
  `${owner.tenant}\n${owner.principal}\n${agent}`;
