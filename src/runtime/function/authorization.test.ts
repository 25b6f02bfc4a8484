import { expect, test } from "vitest";
import { Conversation } from "../../../test/support/turn.ts";
import type { AuthRequest } from "../../agent/content.ts";
import { agent } from "../../agent/definition.ts";

const ENDPOINT = "http://here/credentials";
const START = "http://here/oauth/start?ask=slip";

async function asked(request: AuthRequest, talk = new Conversation()) {
  const definition = agent({ name: "tested", run: (_task, ctx) => ctx.askAuth(request) });
  const [event] = await talk.addMessage("hi").run(definition);
  return { event, talk };
}

function withOptions(authorizationOptions: Conversation["authorizationOptions"]): Conversation {
  return Object.assign(new Conversation(), { authorizationOptions });
}

test("the reason and the page are text for people and data for programs", async () => {
  const options = { github: { url: START, endpoint: ENDPOINT } };
  const request = { name: "github", scopes: ["repo"], description: "To read your issues." };
  const { event, talk } = await asked(request, withOptions(options));
  expect(event).toMatchObject({
    type: "status",
    state: "auth-required",
    auth: { name: "github", scheme: "oauth2" },
    message: {
      role: "agent",
      parts: [
        {
          kind: "text",
          text: `To read your issues.\nOpen ${START} to authorize; the task then continues automatically.`,
        },
        {
          kind: "data",
          data: {
            authorization: {
              name: "github",
              scheme: "oauth2",
              scopes: ["repo"],
              url: START,
              credentialsUrl: ENDPOINT,
              agent: "tested",
              taskId: "task-1",
            },
          },
        },
      ],
    },
  });
  expect(talk.task.status).toMatchObject({
    state: "auth-required",
    auth: { name: "github", scheme: "oauth2" },
  });
  expect(talk.logged).toEqual([]);
});

test.each([
  [
    "a page of the author's own",
    { name: "x", url: "https://mine.example/login" },
    {},
    "Authorization required: x.\nOpen https://mine.example/login to authorize, then reply to this task.",
  ],
  [
    "a place for programs",
    { name: "x", scheme: "bearer" },
    { x: { endpoint: ENDPOINT } },
    'Authorization required: x.\nTo authorize, POST {"agent": "tested", "taskId": "task-1", "credentials": {…}} ' +
      `to ${ENDPOINT}, or reply to this task with a data part {"credentials": {…}}.`,
  ],
  [
    "nothing that is known",
    { name: "x", scheme: "bearer" },
    {},
    'Authorization required: x.\nTo authorize, reply to this task with a data part {"credentials": {…}}.',
  ],
])("the instructions depend on the available endpoints: %s", async (_name, request, options, text) => {
  const { event } = await asked(request, withOptions(options));
  expect(event).toMatchObject({ message: { parts: [{ text }, expect.anything()] } });
});

test("a missing provider is logged", async () => {
  const { talk } = await asked({ name: "github" });
  expect(talk.logged).toMatchObject([{ facts: { name: "github" }, text: expect.stringContaining("oauth") }]);
});

test.each([
  ["a name", { name: "" }, "ctx.askAuth needs a name"],
  ["a name that can be one", { name: "a b" }, "ctx.askAuth needs a name"],
  ["an object", undefined, "ctx.askAuth needs a name"],
  ["a scheme", { name: "x", scheme: "" }, 'must be a string such as "oauth2"'],
  ["scopes in a list", { name: "x", scopes: "repo" }, "must be an array of strings"],
  ["a URL", { name: "x", url: "nope" }, "url must be an absolute URL"],
  ["words", { name: "x", description: 5 }, "must be a string"],
])("what is wrong is told at once, to its author: it needs %s", async (_name, request, message) => {
  await expect(asked(request as AuthRequest)).rejects.toThrow(message);
});

test("a credential is found by its name", async () => {
  const talk = Object.assign(new Conversation(), {
    credentials: { github: { scheme: "oauth2", accessToken: "t" } },
  });
  const run = agent({
    name: "tested",
    run: async (_task, ctx) =>
      `${(await ctx.credentials("github"))?.accessToken} ${await ctx.credentials("other")}`,
  });
  await talk.addMessage("hi").run(run);
  expect(talk.task.artifacts[0]?.parts).toEqual([{ kind: "text", text: "t undefined" }]);
});
