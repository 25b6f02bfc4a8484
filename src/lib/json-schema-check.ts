/**
 * Checks values against JSON Schema 2020-12, as far as it needs no second document: references within the schema,
 * no `unevaluated…` and no `$dynamicRef`. `format` is an annotation.
 */
import { isDeepEqual } from "./json.ts";

export interface SchemaIssue {
  /** Names and indexes from the root of the value. */
  readonly path: readonly (string | number)[];
  /** What is wrong, without the path. */
  readonly message: string;
}

export type JsonSchemaObject = Readonly<Record<string, unknown>>;

const UNSUPPORTED = ["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"];
/** Schemas nest, and references may point at themselves. */
const DEPTH_MAX = 200;

/** Throws an error for the author if the schema cannot be checked. */
export function compileJsonSchema(schema: JsonSchemaObject): (value: unknown) => SchemaIssue | undefined {
  inspect(schema, "the schema", schema, 0);
  return value => check({ root: schema, depth: 0 }, schema, value, []);
}

/** Finds keywords that cannot be checked and references that lead nowhere. */
function inspect(root: JsonSchemaObject, where: string, node: unknown, depth: number): void {
  if (depth > DEPTH_MAX) throw new TypeError(`${where} is nested more than ${DEPTH_MAX} levels deep`);
  if (typeof node !== "object" || node === null) return;
  for (const [key, inner] of Object.entries(node)) {
    if (LITERALS.has(key)) continue;
    if (UNSUPPORTED.includes(key)) throw new TypeError(`${where} uses ${key}, which is not supported`);
    if (key === "$ref" && typeof inner === "string") resolve(root, inner);
    if ((key === "pattern" && typeof inner === "string") || key === "patternProperties")
      for (const pattern of typeof inner === "string" ? [inner] : Object.keys(inner as object))
        new RegExp(pattern, "u");
    inspect(root, where, inner, depth + 1);
  }
}
/** Their values are no schemas. */
const LITERALS: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

function resolve(root: JsonSchemaObject, ref: string): unknown {
  if (ref !== "#" && !ref.startsWith("#/"))
    throw new TypeError(`the reference ${ref} leads out of the schema`);
  const names = ref.split("/").slice(1).map(unescapeName);
  const found = names.reduce<unknown>((node, name) => (node as JsonSchemaObject | undefined)?.[name], root);
  if (found === undefined) throw new TypeError(`the reference ${ref} leads nowhere`);
  return found;
}
const unescapeName = (name: string): string =>
  decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~");

interface Place {
  readonly root: JsonSchemaObject;
  readonly depth: number;
}
type Path = SchemaIssue["path"];
type Result = SchemaIssue | undefined;
type Check = (place: Place, schema: JsonSchemaObject, value: unknown, path: Path) => Result;

/** The first issue. */
function check(place: Place, schema: unknown, value: unknown, path: Path): Result {
  if (schema === true) return undefined;
  if (schema === false) return { path, message: "is not allowed" };
  if (place.depth > DEPTH_MAX) throw new TypeError("a schema refers to itself without end");
  const inner = { ...place, depth: place.depth + 1 };
  for (const part of CHECKS) {
    const issue = part(inner, schema as JsonSchemaObject, value, path);
    if (issue) return issue;
  }
  return undefined;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

const checkType: Check = (_place, { type, ...schema }, value, path) => {
  const types = type === undefined ? [] : Array.isArray(type) ? type : [type];
  const actual = typeOf(value);
  const isType = types.includes(actual) || (actual === "integer" && types.includes("number"));
  if (types.length > 0 && !isType)
    return {
      path,
      message: `must be ${types.join(" or ")}, got ${actual === "integer" ? "number" : actual}`,
    };
  if (Array.isArray(schema.enum) && !schema.enum.some(one => isDeepEqual(one, value)))
    return { path, message: `must be one of ${schema.enum.map(one => JSON.stringify(one)).join(", ")}` };
  if ("const" in schema && !isDeepEqual(schema.const, value))
    return { path, message: `must be ${JSON.stringify(schema.const)}` };
  return undefined;
};

const checkReference: Check = (place, { $ref }, value, path) =>
  typeof $ref === "string" ? check(place, resolve(place.root, $ref), value, path) : undefined;

const checkString: Check = (_place, { minLength = 0, maxLength, pattern }, value, path) => {
  if (typeof value !== "string") return undefined;
  const length = minLength === 0 && maxLength === undefined ? 0 : [...value].length;
  if (length < (minLength as number)) return { path, message: `must have at least ${minLength} characters` };
  if (maxLength !== undefined && length > (maxLength as number))
    return { path, message: `must have at most ${maxLength} characters` };
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value))
    return { path, message: `must match the pattern ${pattern}` };
  return undefined;
};

/** Of a number and a limit. */
const NUMBER_RULES: Readonly<
  Record<string, readonly [is: (value: number, limit: number) => boolean, text: string]>
> = {
  minimum: [(value, limit) => value >= limit, "at least"],
  maximum: [(value, limit) => value <= limit, "at most"],
  exclusiveMinimum: [(value, limit) => value > limit, "greater than"],
  exclusiveMaximum: [(value, limit) => value < limit, "less than"],
  multipleOf: [(value, limit) => Number.isInteger(value / limit), "a multiple of"],
};

const checkNumber: Check = (_place, schema, value, path) => {
  if (typeof value !== "number") return undefined;
  for (const [name, [is, text]] of Object.entries(NUMBER_RULES)) {
    const limit = schema[name];
    if (typeof limit === "number" && !is(value, limit)) return { path, message: `must be ${text} ${limit}` };
  }
  return undefined;
};

const checkArray: Check = (place, schema, value, path) => {
  if (!Array.isArray(value)) return undefined;
  const { minItems = 0, maxItems, uniqueItems, prefixItems = [], items = true } = schema;
  if (value.length < (minItems as number)) return { path, message: `must have at least ${minItems} items` };
  if (maxItems !== undefined && value.length > (maxItems as number))
    return { path, message: `must have at most ${maxItems} items` };
  if (uniqueItems === true && new Set(value.map(toKey)).size < value.length)
    return { path, message: "must not have equal items" };
  const first = prefixItems as readonly unknown[];
  for (const [at, item] of value.entries()) {
    const issue = check(place, at < first.length ? first[at] : items, item, [...path, at]);
    if (issue) return issue;
  }
  return checkContains(place, schema, value, path);
};

const checkContains: Check = (place, { contains, minContains = 1, maxContains }, value, path) => {
  if (contains === undefined) return undefined;
  const count = (value as readonly unknown[]).filter(item => !check(place, contains, item, path)).length;
  if (count >= (minContains as number) && (maxContains === undefined || count <= (maxContains as number)))
    return undefined;
  return {
    path,
    message: `${count} of its items match, which is too ${count < (minContains as number) ? "few" : "many"}`,
  };
};

/** Equal values have equal keys, whatever the order of their members. */
const toKey = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) =>
    isRecord(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

const checkMembers: Check = (place, schema, value, path) => {
  if (!isRecord(value)) return undefined;
  const names = Object.keys(value);
  const { required = [], minProperties = 0, maxProperties, dependentRequired = {} } = schema;
  const needed = [
    ...(required as readonly string[]),
    ...Object.entries(dependentRequired as Record<string, readonly string[]>).flatMap(([name, others]) =>
      Object.hasOwn(value, name) ? others : [],
    ),
  ];
  for (const name of needed)
    if (!Object.hasOwn(value, name)) return { path: [...path, name], message: "is required" };
  if (names.length < (minProperties as number))
    return { path, message: `must have at least ${minProperties} members` };
  if (maxProperties !== undefined && names.length > (maxProperties as number))
    return { path, message: `must have at most ${maxProperties} members` };
  return checkProperties(place, schema, value, path);
};

const checkProperties: Check = (place, schema, value, path) => {
  const { propertyNames = true, additionalProperties = true } = schema;
  const properties = (schema.properties ?? {}) as JsonSchemaObject;
  const patterns = Object.entries((schema.patternProperties ?? {}) as JsonSchemaObject).map(
    ([pattern, inner]) => [new RegExp(pattern, "u"), inner] as const,
  );
  for (const [name, member] of Object.entries(value as JsonSchemaObject)) {
    const own = Object.hasOwn(properties, name) ? [properties[name]] : [];
    const matching = [...own, ...patterns.filter(([pattern]) => pattern.test(name)).map(([, one]) => one)];
    const at = [...path, name];
    if (check(place, propertyNames, name, at)) return { path: at, message: "has a name that is not allowed" };
    for (const inner of matching.length > 0 ? matching : [additionalProperties]) {
      const issue = check(place, inner, member, at);
      if (issue) return issue;
    }
  }
  return undefined;
};

const checkAlternatives: Check = (place, { allOf = [], anyOf, oneOf, not }, value, path) => {
  for (const inner of allOf as readonly unknown[]) {
    const issue = check(place, inner, value, path);
    if (issue) return issue;
  }
  if (anyOf !== undefined) {
    const issues = (anyOf as readonly unknown[]).map(inner => check(place, inner, value, path));
    if (issues.every(issue => issue !== undefined)) return deepest(issues, path);
  }
  if (oneOf !== undefined) {
    const issues = (oneOf as readonly unknown[]).map(inner => check(place, inner, value, path));
    const matching = issues.filter(issue => issue === undefined).length;
    if (matching === 0) return deepest(issues as readonly SchemaIssue[], path);
    if (matching > 1) return { path, message: "matches several alternatives, and only one is allowed" };
  }
  if (not !== undefined && !check(place, not, value, path)) return { path, message: "is not allowed" };
  return undefined;
};

/** The alternative that fitted best is the one that was meant. */
const deepest = (issues: readonly SchemaIssue[], path: Path): SchemaIssue =>
  issues.reduce(
    (best, issue) => (issue.path.length > best.path.length ? issue : best),
    issues[0] ?? {
      path,
      message: "is not allowed",
    },
  );

const checkCondition: Check = (place, schema, value, path) => {
  if (schema.if === undefined) return undefined;
  const branch = check(place, schema.if, value, path) ? schema.else : schema.then;
  return branch === undefined ? undefined : check(place, branch, value, path);
};

const checkDependentSchemas: Check = (place, { dependentSchemas = {} }, value, path) => {
  if (!isRecord(value)) return undefined;
  for (const [name, inner] of Object.entries(dependentSchemas as JsonSchemaObject)) {
    const issue = Object.hasOwn(value, name) ? check(place, inner, value, path) : undefined;
    if (issue) return issue;
  }
  return undefined;
};

const CHECKS: readonly Check[] = [
  checkType,
  checkReference,
  checkString,
  checkNumber,
  checkArray,
  checkMembers,
  checkAlternatives,
  checkCondition,
  checkDependentSchemas,
];

/** `stops[1].name` */
export const formatPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((all, part) => {
    if (typeof part === "number") return `${all}[${part}]`;
    return all === "" ? String(part) : `${all}.${String(part)}`;
  }, "");
