import { isDeepEqual, isObject, type Json, type JsonObject } from "../lib/json.ts";
import { Fault } from "../model/index.ts";

type Test = (value: Json | undefined) => boolean;

const OPERATORS: Readonly<Record<string, (operand: Json) => Test>> = {
  $eq: operand => value => isDeepEqual(value, operand),
  $ne: operand => value => !isDeepEqual(value, operand),
  $gt: operand => value => compare(value, operand) > 0,
  $gte: operand => value => compare(value, operand) >= 0,
  $lt: operand => value => compare(value, operand) < 0,
  $lte: operand => value => compare(value, operand) <= 0,
  $in: operand => value => toOperands(operand).some(one => isDeepEqual(value, one)),
  $nin: operand => value => !toOperands(operand).some(one => isDeepEqual(value, one)),
};

/** The test of a filter such as `{ type: "report", pages: { $gt: 10 }, author: { name: "Ada" } }`. */
export function parseFilter(filter: JsonObject | undefined): (value: JsonObject) => boolean {
  if (filter === undefined) return () => true;
  return parseMembers(filter) as (value: JsonObject) => boolean;
}

function parseMembers(filter: JsonObject): Test {
  const tests = Object.entries(filter).map(([key, wanted]) => [key, parseTest(wanted)] as const);
  return value =>
    isObject(value) && tests.every(([key, test]) => test(Object.hasOwn(value, key) ? value[key] : undefined));
}

function parseTest(wanted: Json): Test {
  if (!isObject(wanted)) return value => isDeepEqual(value, wanted);
  const names = Object.keys(wanted);
  if (!names.some(name => name.startsWith("$")))
    return names.length === 0 ? value => isDeepEqual(value, wanted) : parseMembers(wanted);
  const tests = names.map(name => {
    const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
    if (!operator)
      throw new Fault(
        "invalid-params",
        `Unknown operator "${name}"; the operators of a filter are ${Object.keys(OPERATORS).join(", ")}`,
        { field: "filter" },
      );
    return operator(wanted[name] as Json);
  });
  return value => tests.every(test => test(value));
}

const toOperands = (operand: Json): readonly Json[] => (Array.isArray(operand) ? operand : []);

/** NaN: they cannot be compared. Texts are compared as texts, unless both are numbers. */
function compare(value: Json | undefined, operand: Json): number {
  const [left, right] = [toNumber(value), toNumber(operand)];
  if (!Number.isNaN(left) && !Number.isNaN(right)) return left - right;
  if (typeof value !== "string" || typeof operand !== "string") return Number.NaN;
  return value === operand ? 0 : value < operand ? -1 : 1;
}

const toNumber = (value: Json | undefined): number =>
  typeof value === "number" || (typeof value === "string" && value.trim() !== "")
    ? Number(value)
    : Number.NaN;
