import { type } from "arktype";
import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { checkInput, toAgentSchemas } from "./agent-schemas.ts";
import { agent } from "./definition.ts";

const Zod = z.object({ city: z.string(), days: z.number().int().default(1) });
const Valibot = v.object({ city: v.string(), days: v.optional(v.number(), 1) });
const Arktype = type({ city: "string", days: "number = 1" });
const Json = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "integer" },
    kind: { enum: ["car", "train"] },
    stops: {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    },
  },
  required: ["city"],
} as const;

const LIBRARIES = {
  zod: { input: Zod },
  valibot: { input: Valibot, inputSchema: Json },
  arktype: { input: Arktype },
};

test.each(Object.entries(LIBRARIES))(
  "%s: defaults are applied, and the wrong field is named",
  async (_, source) => {
    const schemas = toAgentSchemas(source);
    expect(await checkInput(schemas, [], undefined, { city: "Paris" })).toEqual({
      value: { city: "Paris", days: 1 },
    });
    expect(await checkInput(schemas, [], undefined, { city: 5 })).toMatchObject({
      issue: { path: ["city"] },
    });
    expect(await checkInput(schemas, [], undefined, {})).toMatchObject({ issue: { path: ["city"] } });
    expect(schemas.input?.json).toMatchObject({ type: "object", required: ["city"] });
  },
);

test("a schema that checks asynchronously is awaited", async () => {
  const input = z.object({ city: z.string().refine(async city => city !== "Nowhere", "unknown city") });
  const schemas = toAgentSchemas({ input });
  expect(await checkInput(schemas, [], undefined, { city: "Paris" })).toEqual({ value: { city: "Paris" } });
  expect(await checkInput(schemas, [], undefined, { city: "Nowhere" })).toEqual({
    issue: { path: ["city"], message: "unknown city" },
  });
});

test.each([
  ["input: a schema of valibot does not tell its JSON Schema: set inputSchema", { input: Valibot }],
  ["output: zod cannot make a JSON Schema of it", { output: z.date() }],
  ["skills[0].input: a schema of valibot", { skills: [{ id: "a", input: Valibot }] }],
  ["input: the schema uses unevaluatedItems", { input: { unevaluatedItems: false } }],
])("the start says: %s", (message, source) => {
  expect(() => toAgentSchemas(source)).toThrow(message);
});

const Trip = { forecast: Zod, route: z.object({ from: z.string(), to: z.string() }) };
const SKILLS = [
  { id: "forecast", input: Trip.forecast },
  { id: "route", input: Trip.route },
];

test("the named skill decides, else the first one that accepts the input", async () => {
  const schemas = toAgentSchemas({ skills: SKILLS });
  const ids = SKILLS.map(({ id }) => id);
  const value = { from: "A", to: "B" };
  expect(await checkInput(schemas, ids, "route", value)).toEqual({ skill: "route", value });
  expect(await checkInput(schemas, ids, undefined, value)).toEqual({ skill: "route", value });
  expect(await checkInput(schemas, ids, "forecast", value)).toMatchObject({ issue: { path: ["city"] } });
  expect(await checkInput(schemas, ids, undefined, { from: "A" })).toMatchObject({ skills: ids });
});

test("a skill without a schema takes what no other skill accepts", async () => {
  const schemas = toAgentSchemas({ skills: [...SKILLS, { id: "chat" }] });
  expect(await checkInput(schemas, ["forecast", "route", "chat"], undefined, {})).toEqual({ value: {} });
  expect(await checkInput(schemas, ["forecast", "route", "chat"], "chat", {})).toEqual({
    value: {},
    skill: "chat",
  });
});

test("run has the types of the schemas", () => {
  agent({
    name: "zod",
    input: Zod,
    output: z.object({ at: z.string(), warm: z.boolean().default(false) }),
    run(task, ctx) {
      expectTypeOf(task.input).toEqualTypeOf<{ city: string; days: number }>();
      expectTypeOf(ctx.output).parameter(0).toEqualTypeOf<{ at: string; warm?: boolean | undefined }>();
    },
  });
  agent({
    name: "valibot",
    input: Valibot,
    inputSchema: Json,
    async *run(task, ctx) {
      expectTypeOf(task.input).toEqualTypeOf<{ city: string; days: number }>();
      yield ctx.text("");
    },
  });
  agent({
    name: "arktype",
    input: Arktype,
    async *run(task, ctx) {
      expectTypeOf(task.input).toEqualTypeOf<{ city: string; days: number }>();
      yield ctx.text("");
    },
  });
});

test("a JSON Schema that is written out has a type, too", () => {
  agent({
    name: "json",
    input: Json,
    run(task) {
      expectTypeOf(task.input.city).toEqualTypeOf<string>();
      expectTypeOf(task.input.days).toEqualTypeOf<number | undefined>();
      expectTypeOf(task.input.kind).toEqualTypeOf<"car" | "train" | undefined>();
      expectTypeOf(task.input.stops)
        .exclude<undefined>()
        .items.toHaveProperty("name")
        .toEqualTypeOf<string>();
    },
  });
});

test("the skill tells the type of the input", () => {
  agent({
    name: "trip",
    skills: [
      { id: "forecast", input: Trip.forecast, output: z.object({ sun: z.boolean() }) },
      { id: "route", input: Trip.route, output: z.object({ km: z.number() }) },
    ],
    run(task, ctx) {
      expectTypeOf(task.skill).toEqualTypeOf<"forecast" | "route">();
      expectTypeOf(ctx.output).parameter(0).toEqualTypeOf<{ sun: boolean } | { km: number }>();
      if (task.skill === "route") expectTypeOf(task.input).toEqualTypeOf<{ from: string; to: string }>();
      else expectTypeOf(task.input).toEqualTypeOf<{ city: string; days: number }>();
    },
  });
});

test("without schemas everything is as before", () => {
  agent({
    name: "plain",
    skills: [{ id: "one" }],
    run(task, ctx) {
      expectTypeOf(task.input).toEqualTypeOf<import("../lib/json.ts").JsonObject>();
      expectTypeOf(task.skill).toEqualTypeOf<"one" | undefined>();
      expectTypeOf(ctx.output).parameter(0).toEqualTypeOf<unknown>();
    },
  });
});
