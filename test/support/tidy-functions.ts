import { lineOf } from "./tidy-tree.ts";

/** The lengths of functions, from code without comments and texts (`Source.code`). */

export interface Measured {
  readonly name: string;
  readonly line: number;
  /** Its own lines: those of inner functions with more than one line do not count. */
  readonly lines: number;
}

interface Range {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

export function functionsIn(code: string): readonly Measured[] {
  const partners = partnersIn(code);
  const ranges = [...named(code, partners), ...arrows(code, partners)].map(({ name, from, to }) => ({
    name,
    first: lineOf(code, from),
    last: lineOf(code, to),
  }));
  return ranges.map(one => {
    const own = new Set<number>();
    for (let line = one.first; line <= one.last; line++) own.add(line);
    for (const other of ranges)
      if (other !== one && other.last > other.first && isWithin(other, one))
        for (let line = other.first; line <= other.last; line++) own.delete(line);
    return { name: one.name, line: one.first, lines: own.size };
  });
}

type Lines = { readonly first: number; readonly last: number };
const isWithin = (inner: Lines, outer: Lines): boolean =>
  inner.first >= outer.first &&
  inner.last <= outer.last &&
  inner.last - inner.first < outer.last - outer.first;

/** For each bracket the position of its partner. */
function partnersIn(code: string): ReadonlyMap<number, number> {
  const partners = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < code.length; at++) {
    const char = code[at] as string;
    if ("([{".includes(char)) open.push(at);
    else if (")]}".includes(char)) {
      const partner = open.pop();
      if (partner === undefined) continue;
      partners.set(partner, at);
      partners.set(at, partner);
    }
  }
  return partners;
}

const NO_NAMES = new Set("if for while switch catch await return function with".split(" "));

/** Functions and methods: a name, parameters, perhaps a type, and a body. */
function* named(code: string, partners: ReadonlyMap<number, number>): Generator<Range> {
  for (const found of code.matchAll(/(function\b\s*\*?\s*)?([\w$#\]"]*)\s*(?:<[^()]*>)?\(/g)) {
    const name = found[2] as string;
    if (found[1] === undefined && (name === "" || NO_NAMES.has(name))) continue;
    const close = partners.get(found.index + found[0].length - 1);
    const body = close === undefined ? undefined : bodyAfter(code, close + 1, partners);
    const end = body === undefined ? undefined : partners.get(body);
    if (end !== undefined) yield { name: name || "function", from: found.index, to: end };
  }
}

const BEFORE_TYPES = new Set("readonly keyof typeof is asserts infer extends unique new".split(" "));

/** Where the body begins after parameters; undefined: this is a call, or a declaration without a body. */
function bodyAfter(code: string, from: number, partners: ReadonlyMap<number, number>): number | undefined {
  let at = from + (/^\s*/.exec(code.slice(from, from + 200))?.[0].length ?? 0);
  if (code[at] === "{") return at;
  if (code[at] !== ":") return undefined;
  // A type: a brace where one more operand is expected belongs to it, any other brace is the body.
  let due = true;
  for (at += 1; at < code.length; ) {
    const char = code[at] as string;
    if (/\s/.test(char)) at += 1;
    else if (char === "{" && !due) return at;
    else if ("{([".includes(char)) {
      at = (partners.get(at) ?? code.length) + 1;
      due = false;
    } else if (char === "<") {
      at = afterAngles(code, at);
      due = false;
    } else if (char === '"') {
      at = code.indexOf('"', at + 1) + 1;
      due = false;
    } else if (/[|&?:]/.test(char)) {
      due = true;
      at += 1;
    } else if (char === "." || char === "#") at += 1;
    else {
      const word = /^[\w$]+/.exec(code.slice(at, at + 100))?.[0];
      if (word === undefined) return undefined;
      due = BEFORE_TYPES.has(word);
      at += word.length;
    }
  }
  return undefined;
}

function afterAngles(code: string, from: number): number {
  let depth = 0;
  for (let at = from; at < code.length; at++) {
    if (code[at] === "<") depth += 1;
    if (code[at] === ">" && code[at - 1] !== "=" && --depth === 0) return at + 1;
  }
  return code.length;
}

function* arrows(code: string, partners: ReadonlyMap<number, number>): Generator<Range> {
  for (const { index } of code.matchAll(/=>/g)) {
    const line = code.slice(code.lastIndexOf("\n", index) + 1, index);
    const name = /\b(?:const|let|readonly)\s+([\w$#]+)|^\s*([\w$#]+):/.exec(line);
    yield { name: name?.[1] ?? name?.[2] ?? "=>", from: index, to: endOfArrow(code, index + 2, partners) };
  }
}

function endOfArrow(code: string, from: number, partners: ReadonlyMap<number, number>): number {
  const start = from + (/^\s*/.exec(code.slice(from, from + 200))?.[0].length ?? 0);
  if (code[start] === "{") return partners.get(start) ?? start;
  for (let at = start; at < code.length; at++) {
    const char = code[at] as string;
    if (",;)]}".includes(char)) return at;
    if ("([{".includes(char)) at = partners.get(at) ?? at;
  }
  return code.length;
}
