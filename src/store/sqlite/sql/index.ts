import { sql as first } from "./0001.ts";
import { sql as names } from "./0002.ts";
import { sql as compacted } from "./0003.ts";
import { sql as arrived } from "./0004.ts";
import { sql as shelf } from "./0005.ts";
import { sql as usage } from "./0006.ts";
import { sql as push } from "./0007.ts";
import { sql as items } from "./0008.ts";
import { sql as resources } from "./0009.ts";
import { sql as overview } from "./0010.ts";
import { sql as ownerState } from "./0011.ts";
import { sql as staged } from "./0012.ts";

/** All migrations in order; the index of the last one, counted from 1, is the schema number. Add at the end only. */
export const MIGRATIONS: readonly string[] = [
  first,
  names,
  compacted,
  arrived,
  shelf,
  usage,
  push,
  items,
  resources,
  overview,
  ownerState,
  staged,
];
