import { expect, test } from "vitest";
import { V1_SCHEMA } from "../a2a-v1/schema.ts";
import { V03_SCHEMA } from "../a2a-v03/schema.ts";
import { type Field, fieldsOf, type ProtobufSchema, rpcsOf } from "./schema.ts";

const schemaOf = (field: string): ProtobufSchema => ({
  package: "p",
  service: "S",
  rpcs: { Get: "A: B", Watch: "A: stream B" },
  enums: {},
  messages: { M: { field } },
});

const PLAIN = {
  form: "one",
  number: undefined,
  optional: false,
  oneof: false,
  required: false,
  alwaysSent: false,
  description: undefined,
};

test.each<[spec: string, field: Partial<Field>]>([
  ["string 1", { type: "string", number: 1 }],
  [
    "Part[]! 5: At least one: text",
    { type: "Part", form: "list", required: true, number: 5, description: "At least one: text" },
  ],
  ["map<string> 2", { type: "string", form: "map", number: 2 }],
  ["map<string[]>[]", { type: "map<string[]>", form: "list" }],
  ["bool?+ 3", { type: "bool", optional: true, alwaysSent: true, number: 3 }],
  ["Value| 4", { type: "Value", oneof: true, number: 4 }],
  ["'task'!", { type: "'task'", required: true }],
])("the field %s", (spec, field) => {
  expect(fieldsOf(schemaOf(spec), "M")).toEqual([{ ...PLAIN, name: "field", ...field }]);
});

test.each(["", "string 1 2", "string!1", "map<> 1", "string[][] 1"])("rejects the field %j", spec => {
  expect(() => fieldsOf(schemaOf(spec), "M")).toThrow(`Invalid field M.field: ${spec}`);
});

test("an rpc has a request, a response, and may stream", () => {
  expect(rpcsOf(schemaOf("string"))).toEqual([
    { name: "Get", request: "A", response: "B", streams: false },
    { name: "Watch", request: "A", response: "B", streams: true },
  ]);
  expect(() => rpcsOf({ ...schemaOf("string"), rpcs: { Get: "A" } })).toThrow("Invalid rpc Get: A");
});

test.each<ProtobufSchema>([V1_SCHEMA, V03_SCHEMA])("no message of $package has a number twice", schema => {
  for (const message of Object.keys(schema.messages)) {
    const numbers = fieldsOf(schema, message).flatMap(field => field.number ?? []);
    expect(new Set(numbers).size, message).toBe(numbers.length);
  }
});
