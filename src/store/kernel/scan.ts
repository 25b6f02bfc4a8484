import { LIMITS } from "../../model/index.ts";

export interface ScanResult<Row> {
  readonly found: readonly Row[];
  /** The last row that was examined; undefined: there are no more. */
  readonly next: Row | undefined;
}

/** Rows of one query of a scan. */
const CHUNK = 500;

/** Examines rows in order until `max` match, a limit of rows is reached, or there are no more. */
export function scanRows<Row>(parts: {
  readonly max: number;
  readonly matches: (row: Row) => boolean;
  /** The next rows after this one; undefined: the first ones. */
  readonly fetch: (after: Row | undefined, count: number) => readonly Row[];
}): ScanResult<Row> {
  const { max, matches, fetch } = parts;
  const found: Row[] = [];
  let last: Row | undefined;
  for (let examined = 0; examined < LIMITS.scanRowsMax; ) {
    const rows = fetch(last, CHUNK);
    for (const row of rows) {
      last = row;
      examined += 1;
      if (matches(row)) found.push(row);
      if (found.length === max) return { found, next: row };
    }
    if (rows.length < CHUNK) return { found, next: undefined };
  }
  return { found, next: last };
}
