/** Which parts of a JSON value its tree shows, so that a large or deep value costs no more than it has to. */
const ROWS_MAX = 400;
export const FOUND_MAX = 200;
/** The browser draws a branch within its parent: very deep values are opened by hand. */
const DEPTH_MAX = 100;
export const BRANCH_MAX = 100;

export const isBranch = (value: unknown): value is object => typeof value === "object" && value !== null;

const sizeOf = (value: object): number => (Array.isArray(value) ? value.length : Object.keys(value).length);

/** The branches that are open at first: level by level, while they have few rows. */
export function openAtFirst(value: unknown, depth: number): ReadonlySet<object> {
  const open = new Set<object>();
  let rows = 0;
  let level = isBranch(value) ? [value] : [];
  for (let at = 0; at < depth && level.length > 0; at++) {
    const next: object[] = [];
    for (const branch of level) {
      rows += Math.min(sizeOf(branch), BRANCH_MAX);
      if (rows > ROWS_MAX) return open;
      open.add(branch);
      for (const one of Object.values(branch).slice(0, BRANCH_MAX)) if (isBranch(one)) next.push(one);
    }
    level = next;
  }
  return open;
}

export interface Found {
  /** Members that contain the text. */
  readonly count: number;
  /** false: the search ended after so many. */
  readonly isComplete: boolean;
  /** Around these members. */
  readonly branches: ReadonlySet<object>;
}

/** The text is in lower case. */
export const matches = (text: string, name: string | undefined, value: unknown): boolean =>
  text !== "" &&
  (name?.toLowerCase().includes(text) === true ||
    (!isBranch(value) && String(value).toLowerCase().includes(text)));

/** Where names or values contain the text. */
export function findIn(value: unknown, text: string): Found {
  const branches = new Set<object>();
  let count = 0;
  if (text === "" || !isBranch(value)) return { count, isComplete: true, branches };
  /** The branches on the way to the current one, each with the members that are left. */
  const path: { readonly branch: object; readonly members: Iterator<[string, unknown]> }[] = [
    { branch: value, members: membersOf(value) },
  ];
  for (let last = path.at(-1); last; last = path.at(-1)) {
    const { done, value: member } = last.members.next();
    if (done) {
      path.pop();
      continue;
    }
    const [name, one] = member;
    if (matches(text, Array.isArray(last.branch) ? undefined : name, one)) {
      count += 1;
      for (let at = path.length - 1; at >= 0; at--) {
        const { branch } = path[at] as (typeof path)[number];
        if (branches.has(branch)) break;
        branches.add(branch);
      }
      if (count === FOUND_MAX) return { count, isComplete: false, branches };
    }
    if (isBranch(one) && path.length < DEPTH_MAX) path.push({ branch: one, members: membersOf(one) });
  }
  return { count, isComplete: true, branches };
}

const membersOf = (value: object): Iterator<[string, unknown]> => Object.entries(value)[Symbol.iterator]();
