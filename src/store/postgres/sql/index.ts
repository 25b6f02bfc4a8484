import { sql as first } from "./0001.ts";
import { sql as pushes } from "./0002.ts";
import { sql as access } from "./0003.ts";
import { sql as nodes } from "./0004.ts";
import { sql as items } from "./0005.ts";
import { sql as resources } from "./0006.ts";
import { sql as overview } from "./0007.ts";

export interface Migration {
  readonly sql: string;
  /** The oldest schema whose servers are still compatible: lower than its own if the migration only adds. */
  readonly oldest: number;
}

/** In order: the position in this list, counted from 1, is the schema version. Add at the end only. */
export const MIGRATIONS: readonly Migration[] = [
  { sql: first, oldest: 1 },
  { sql: pushes, oldest: 2 },
  { sql: access, oldest: 3 },
  { sql: nodes, oldest: 4 },
  { sql: items, oldest: 4 },
  { sql: resources, oldest: 4 },
  { sql: overview, oldest: 4 },
];
