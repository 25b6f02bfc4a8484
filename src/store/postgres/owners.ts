import { type AgentName, LIMITS, type Scope } from "../../model/index.ts";
import type { Asker } from "./database.ts";

interface OwnerRow {
  readonly id: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
}

type Whose = Pick<Scope, "tenant" | "principal">;

/** Small integers for (tenant, principal, agent). They never change, so those that were seen last are remembered. */
export class Owners {
  readonly #db: Asker;
  readonly #ids = new Map<string, number>();
  readonly #rows = new Map<number, OwnerRow>();

  constructor(db: Asker) {
    this.#db = db;
  }

  /** The integer of an owner that may be new. */
  async idOf(scope: Whose, agent: AgentName): Promise<number> {
    const known = await this.find(scope, agent);
    if (known !== undefined) return known;
    await this.#db.query(
      "INSERT INTO owner (tenant, principal, agent) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      [scope.tenant, scope.principal, agent],
    );
    return (await this.find(scope, agent)) as number;
  }

  async find(scope: Whose, agent: AgentName): Promise<number | undefined> {
    const known = this.#ids.get(keyOf(scope, agent));
    if (known !== undefined) return known;
    const [row] = await this.#db.query<OwnerRow>(
      "SELECT id, tenant, principal, agent FROM owner WHERE tenant = $1 AND principal = $2 AND agent = $3",
      [scope.tenant, scope.principal, agent],
    );
    if (row) this.#keep(row);
    return row?.id;
  }

  /** All owners with these integers are known from here on. */
  async learn(ids: Iterable<number>): Promise<void> {
    const unknown = [...new Set(ids)].filter(id => !this.#rows.has(id));
    if (unknown.length === 0) return;
    const sql = "SELECT id, tenant, principal, agent FROM owner WHERE id = ANY($1)";
    for (const row of await this.#db.query<OwnerRow>(sql, [unknown])) this.#keep(row);
  }

  /** Brings back the scope that was admitted when the task was made. */
  scopeOf(id: number): Scope {
    const { tenant, principal } = this.#rows.get(id) as OwnerRow;
    return { tenant, principal } as Scope;
  }

  agentOf(id: number): AgentName {
    return (this.#rows.get(id) as OwnerRow).agent as AgentName;
  }

  #keep(row: OwnerRow): void {
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
