import type { OwnerFilter } from "../../ports/index.ts";

/** The conditions of a query, and their values. */
export class Condition {
  readonly values: unknown[] = [];
  readonly #parts: string[] = [];
  readonly #first: number;

  /** `first`: values that come before these. */
  constructor(first = 0) {
    this.#first = first;
  }

  get sql(): string {
    return this.#parts.length === 0 ? "true" : this.#parts.join(" AND ");
  }

  /** Each `?` stands for a value. */
  add(sql: string, ...values: readonly unknown[]): this {
    let i = 0;
    this.#parts.push(sql.replaceAll("?", () => `$${this.#first + this.values.length + ++i}`));
    this.values.push(...values);
    return this;
  }
}

type OwnerTest = readonly [sql: string, value: unknown];

const toOwnerTests = ({ tenant, principal, agents }: OwnerFilter): readonly OwnerTest[] => [
  ...(tenant === undefined ? [] : [["tenant = ?", tenant] as const]),
  ...(principal === undefined ? [] : [["principal = ?", principal] as const]),
  ...(agents ? [["agent = ANY(?)", [...agents]] as const] : []),
];

/** The condition for rows of `owner`. */
export function toOwnerCondition(filter: OwnerFilter): Condition {
  const condition = new Condition();
  for (const [sql, value] of toOwnerTests(filter)) condition.add(sql, value);
  return condition;
}

/** The condition for rows of `task t`. */
export function addOwners(condition: Condition, filter: OwnerFilter): void {
  const tests = toOwnerTests(filter);
  if (tests.length === 0) return;
  const sql = tests.map(([test]) => test).join(" AND ");
  condition.add(`t.owner IN (SELECT id FROM owner WHERE ${sql})`, ...tests.map(([, value]) => value));
}
