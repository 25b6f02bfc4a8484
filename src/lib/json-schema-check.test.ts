import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileJsonSchema, type JsonSchemaObject } from "./json-schema-check.ts";

const names = fc.constantFrom("a", "b", "c");
const leaf: fc.Arbitrary<JsonSchemaObject> = fc.oneof(
  fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null", "object", "array") }),
  fc.constant({}),
  fc.record({ type: fc.constant(["string", "null"]) }),
  fc.record({ enum: fc.constant([1, "x", null, { a: 1 }, [1]]) }),
  fc.record({ const: fc.constantFrom(1, "x", null) }),
  fc.record({ minLength: fc.nat(3), maxLength: fc.integer({ min: 0, max: 4 }), pattern: fc.constant("^x") }),
  fc.record({
    minimum: fc.integer({ min: -2, max: 2 }),
    exclusiveMaximum: fc.nat(5),
    multipleOf: fc.constant(2),
  }),
  fc.record({ required: fc.uniqueArray(names), minProperties: fc.nat(2), maxProperties: fc.nat(3) }),
  fc.record({ minItems: fc.nat(2), maxItems: fc.nat(3), uniqueItems: fc.boolean() }),
  fc.constant({ dependentRequired: { a: ["b"] } }),
  fc.constant({ $ref: "#/$defs/text" }),
);
const { schema } = fc.letrec<{ schema: JsonSchemaObject }>(tie => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.record({
      properties: fc.dictionary(names, tie("schema"), { maxKeys: 3 }),
      additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
    }),
    fc.record({ patternProperties: fc.record({ "^[ab]": tie("schema") }), propertyNames: leaf }),
    fc.record({ prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }), items: tie("schema") }),
    fc.record({ contains: tie("schema"), minContains: fc.nat(1), maxContains: fc.nat(3) }),
    fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie("schema") }),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    fc.record({ if: tie("schema"), then: tie("schema"), else: tie("schema") }),
    fc.record({ dependentSchemas: fc.record({ a: tie("schema") }) }),
  ),
}));
/** ajv compares objects by methods that a property of the same name replaces: it throws, or takes equal ones for different. */
const MISLEADS_AJV = /"(?:constructor|toString|valueOf)":/;
const json = fc.jsonValue({ maxDepth: 2 }).filter(one => !MISLEADS_AJV.test(JSON.stringify(one)));
const value = fc.oneof(json, fc.dictionary(names, json), fc.array(fc.constantFrom(1, 2, "x", "xy", null)));

test("agrees with ajv on random schemas and values", () => {
  const ajv = new Ajv2020({ strict: false, logger: false });
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 5, maxLength: 10 }), (random, values) => {
      const whole = { ...random, $defs: { text: { type: "string", minLength: 1 } } };
      const judge = ajv.compile(whole);
      const check = compileJsonSchema(whole);
      for (const one of values)
        expect(check(one) === undefined, JSON.stringify({ whole, one })).toBe(judge(one));
    }),
    { numRuns: 300 },
  );
});

test("compares objects with properties named like the methods of objects", () => {
  const check = compileJsonSchema({ uniqueItems: true, items: { enum: [{ toString: 1, valueOf: 2 }, {}] } });
  expect(check([{}, { valueOf: 2, toString: 1 }])).toBeUndefined();
  expect(check([{ toString: 1, valueOf: 2 }, {}, { valueOf: 2, toString: 1 }])).toBeDefined();
  expect(check([{ constructor: 1 }])).toBeDefined();
});

const ORDER = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 1 },
    days: { type: "integer", minimum: 1 },
    stops: { type: "array", items: { $ref: "#/$defs/stop" } },
    kind: { enum: ["car", "train"] },
  },
  required: ["city"],
  additionalProperties: false,
  $defs: { stop: { type: "object", required: ["name"] } },
};

test.each([
  [{}, ["city"], "is required"],
  [{ city: 1 }, ["city"], "must be string, got number"],
  [{ city: "" }, ["city"], "must have at least 1 characters"],
  [{ city: "x", days: 0.5 }, ["days"], "must be integer, got number"],
  [{ city: "x", days: 0 }, ["days"], "must be at least 1"],
  [{ city: "x", stops: [{ name: "a" }, {}] }, ["stops", 1, "name"], "is required"],
  [{ city: "x", kind: "bike" }, ["kind"], 'must be one of "car", "train"'],
  [{ city: "x", other: 1 }, ["other"], "is not allowed"],
  [[], [], "must be object, got array"],
])("names the field of %j", (input, path, message) => {
  expect(compileJsonSchema(ORDER)(input)).toEqual({ path, message });
});

test.each([
  [{ $ref: "https://example.com/x.json" }, "leads out of the schema"],
  [{ $ref: "#/$defs/none" }, "leads nowhere"],
  [{ unevaluatedProperties: false }, "uses unevaluatedProperties, which is not supported"],
  [{ properties: { a: { pattern: "(" } } }, "Invalid regular expression"],
])("a schema that cannot be checked is refused: %j", (unusable, message) => {
  expect(() => compileJsonSchema(unusable)).toThrow(message);
});

test("a schema that refers to itself without end is an error, not a full stack", () => {
  expect(() => compileJsonSchema({ $ref: "#" })(1)).toThrow("refers to itself without end");
});
