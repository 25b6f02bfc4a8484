import type { Ctx } from "../../src/agent/context.ts";

const TEXT = { kind: "text", text: "x" };
const artifact = (more: object): object => ({
  type: "artifact",
  artifact: { artifactId: "a", parts: [TEXT], ...more },
});
const data = (value: unknown): object => artifact({ parts: [{ kind: "data", data: value }] });
const message = (more: object): object => ({
  type: "status",
  state: "working",
  message: { messageId: "m", role: "agent", parts: [TEXT], ...more },
});

function round(): object {
  const self: Record<string, unknown> = {};
  self.self = self;
  return self;
}

const bomb = (): object => ({
  toJSON() {
    throw new Error("boo");
  },
});

/** Invalid output of agents, which no caller must receive and which must not fail a commit. */
export const INVALID_OUTPUT: Readonly<Record<string, (ctx: Ctx) => unknown>> = {
  "a number": () => 42,
  undefined: () => undefined,
  "an empty object": () => ({}),
  "an event without a type": () => ({ kind: "dance" }),
  "an object whose getter throws": () => ({
    get kind() {
      throw new Error("private");
    },
  }),
  "a status that does not exist": () => ({ type: "status", state: "dancing" }),
  "a status that only the server sets": () => ({ type: "status", state: "submitted" }),
  "an artifact without an id": () => ({ type: "artifact", artifact: { parts: [TEXT] } }),
  "an artifact without parts": () => artifact({ parts: [] }),
  "a text part that is a number": () => artifact({ parts: [{ kind: "text", text: 7 }] }),
  "a part without a kind": () => artifact({ parts: [{ x: 1 }] }),
  "a BigInt as data": () => data({ big: 1n }),
  "circular data": () => data(round()),
  "a function as data": () => data(() => 1),
  "data that throws when it is written": () => data(bomb()),
  "circular data, through ctx.data": ctx => ctx.data(round()),
  "circular metadata": () => artifact({ metadata: round() }),
  "a BigInt in a part's metadata": () => artifact({ parts: [{ ...TEXT, metadata: { n: 1n } }] }),
  "a name that is a BigInt": () => artifact({ name: 1n }),
  "a circular description": () => artifact({ description: round() }),
  "a circular list of extensions": () => artifact({ extensions: [round()] }),
  "a file name that is a BigInt": () => artifact({ parts: [{ ...TEXT, filename: 1n }] }),
  "a media type that is a BigInt, through ctx.text": ctx => ctx.text("x", { mediaType: 1n as never }),
  "a name that is a BigInt, through ctx.text": ctx => ctx.text("x", { name: 1n as never }),
  "a circular description, through ctx.artifact": ctx =>
    ctx.artifact({ parts: "x", description: round() as never }),
  "a message whose metadata is a BigInt": () => message({ metadata: { n: 1n } }),
  "a message that refers to a BigInt": () => message({ referenceTaskIds: [1n] }),
  "a reply without a message": () => ({ type: "reply" }),
  "usage that is not a number": () => ({ type: "usage", usage: { tokens: 1n } }),
};

/** Output that the server may also accept, as long as no other task is affected. */
export const UNUSUAL_OUTPUT: Readonly<Record<string, (ctx: Ctx) => unknown>> = {
  "an artifact with its own toJSON": () => artifact(bomb()),
  "an append that is a BigInt": () => ({ ...artifact({}), append: 1n }),
  "a message with its own toJSON": () => message(bomb()),
};
