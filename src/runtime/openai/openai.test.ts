import { afterEach, describe, expect, test } from "vitest";
import {
  type ChatScript,
  type ChatServer,
  type Reply,
  startChatServer,
} from "../../../test/support/chat-server.ts";
import { Conversation } from "../../../test/support/turn.ts";
import type { Part } from "../../model/index.ts";
import { textOf } from "../../model/index.ts";
import { bindEnvironment } from "../shared/bind-environment.ts";
import { toEndpointError } from "./endpoint-error.ts";
import { type OpenAiOptions, openai } from "./index.ts";

let server: ChatServer;
afterEach(() => server?.close());

const serve = async (play: ChatScript): Promise<void> => {
  server = await startChatServer(play);
};
const agentWith = (more: Partial<OpenAiOptions> = {}) =>
  openai({ name: "tested", baseUrl: server.url, model: "fake-1", ...more });

/** What comes of one message. */
async function answer(
  said: string | readonly Part[],
  more: Partial<OpenAiOptions> = {},
): Promise<Conversation> {
  const conversation = new Conversation().addMessage(said);
  await conversation.run(agentWith(more));
  return conversation;
}
const textIn = ({ task }: Conversation): string =>
  task.artifacts.map(one => (one.name === "response" ? textOf(one.parts) : "")).join("");
const wordsIn = ({ task }: Conversation): string => textOf(task.status.message?.parts ?? []);
const asked = (at = 0) => server.requests[at] as ChatServer["requests"][number];

describe("the request", () => {
  test("has the model, the system prompt, the parameters and the message of the caller", async () => {
    await serve(() => ({ pieces: ["Hi"] }));
    await answer("hello", { system: "Be brief.", params: { temperature: 0, max_tokens: 9 } });
    expect(asked().body).toEqual({
      model: "fake-1",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      max_tokens: 9,
    });
    expect(asked().headers.authorization).toBeUndefined();
  });

  test("has the key of a variable, and custom headers", async () => {
    await serve(() => ({ pieces: ["Hi"] }));
    const agent = agentWith({ keyEnv: "THE_KEY", headers: { "x-team": "blue" } });
    bindEnvironment(agent, { folder: "/", variable: name => (name === "THE_KEY" ? "sk-1" : undefined) });
    await new Conversation().addMessage("hello").run(agent);
    expect(asked().headers).toMatchObject({ authorization: "Bearer sk-1", "x-team": "blue" });
  });

  test("throws when the agent is loaded and the variable is not set", async () => {
    const agent = openai({ name: "tested", baseUrl: "http://localhost/v1", model: "m", keyEnv: "THE_KEY" });
    const missing = () => bindEnvironment(agent, { folder: "/", variable: () => undefined });
    expect(missing).toThrow(
      "The environment variable THE_KEY is not set: it contains the API key for http://localhost/v1",
    );
  });

  test.each(["", "/", "/chat/completions"])("a base URL may end with %j", async ending => {
    await serve(() => ({ pieces: ["Hi"] }));
    expect(textIn(await answer("hello", { baseUrl: server.url + ending }))).toBe("Hi");
  });

  test("has images, documents and text as parts, and data as JSON", async () => {
    await serve(() => ({ pieces: ["I see"] }));
    const png: Part = { kind: "bytes", bytes: "iVBORw==", mediaType: "image/png", filename: "a.png" };
    const pdf: Part = { kind: "bytes", bytes: "JVBERg==", mediaType: "application/pdf", filename: "b.pdf" };
    const csv: Part = { kind: "bytes", bytes: "YSxi", mediaType: "text/csv", filename: "c.csv" };
    await answer([{ kind: "text", text: "What?" }, png, pdf, csv, { kind: "data", data: { n: 1 } }]);
    expect(asked().body.messages[0].content).toEqual([
      { type: "text", text: "What?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw==" } },
      { type: "file", file: { filename: "b.pdf", file_data: "data:application/pdf;base64,JVBERg==" } },
      { type: "text", text: "c.csv:\na,b" },
      { type: "text", text: '{"n":1}' },
    ]);
  });

  test("rejects a file that no model reads, or that cannot be fetched", async () => {
    await serve(() => ({ pieces: ["never"] }));
    const zip: Part = { kind: "bytes", bytes: "UEs=", mediaType: "application/zip", filename: "a.zip" };
    const declined = await answer([zip]);
    expect([declined.task.status.state, wordsIn(declined)]).toEqual([
      "rejected",
      'The model cannot read files of the type application/zip ("a.zip")',
    ]);
    const gone: Part = { kind: "url", url: `${server.url}/none.png`, mediaType: "image/png" };
    expect(wordsIn(await answer([gone]))).toMatch(/^The file "file-1" could not be fetched/);
    expect(server.requests).toEqual([]);
  });
});

describe("the response", () => {
  test("is streamed, and its usage is counted", async () => {
    await serve(() => ({
      pieces: ["Hello ", "world"],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9, prompt_tokens_details: {} },
    }));
    const conversation = new Conversation().addMessage("hi");
    const events = await conversation.run(agentWith());
    expect(events.map(event => event.type)).toEqual(["artifact", "artifact", "usage"]);
    expect(textIn(conversation)).toBe("Hello world");
    expect(conversation.task.usage).toEqual({ inputTokens: 7, outputTokens: 2, totalTokens: 9 });
  });

  test("may be one JSON document, and have parts", async () => {
    const message = {
      role: "assistant",
      content: [{ type: "text", text: "All " }, { type: "x" }, { text: "of it" }],
    };
    await serve(() => ({
      json: {
        choices: [{ message, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 2 },
      },
    }));
    const conversation = await answer("hi", { params: { stream: false } });
    expect(textIn(conversation)).toBe("All of it");
    expect(conversation.task.usage).toEqual({ inputTokens: 1, outputTokens: 2 });
    expect(asked().body).toEqual({ model: "fake-1", stream: false, messages: asked().body.messages });
  });

  test("shows reasoning only if the option is set", async () => {
    const think = { choices: [{ delta: { reasoning_content: "Hm. " } }] };
    await serve(() => ({ pieces: [think, "Yes"] }));
    expect((await answer("hi")).task.artifacts.map(one => one.name)).toEqual(["response"]);
    const open = await answer("hi", { reasoning: true });
    expect(open.task.artifacts.map(one => [one.name, textOf(one.parts)])).toEqual([
      ["reasoning", "Hm. "],
      ["response", "Yes"],
    ]);
  });

  test("is marked when it was truncated", async () => {
    await serve(() => ({ pieces: ["Once upon"], reason: "length" }));
    const { task } = await answer("a story");
    expect(task.artifacts[0]).toMatchObject({ metadata: { finishReason: "length" } });
    expect(textOf(task.artifacts[0]?.parts ?? [])).toBe("Once upon");
  });

  const ends: readonly (readonly [string, Reply, string, RegExp])[] = [
    ["withheld by a filter", { pieces: ["Well"], reason: "content_filter" }, "failed", /content filter/],
    [
      "refused by the model",
      { pieces: [{ choices: [{ delta: { refusal: "I will not" } }] }] },
      "rejected",
      /^I will not$/,
    ],
    [
      "too long for the model",
      { status: 400, json: { error: { message: "…", code: "context_length_exceeded" } } },
      "failed",
      /too long for the model/,
    ],
  ];
  test.each(ends)("may be %s", async (_what, reply, state, words) => {
    await serve(() => reply);
    const conversation = await answer("hi");
    expect(conversation.task.status.state).toBe(state);
    expect(wordsIn(conversation)).toMatch(words);
    expect(server.requests).toHaveLength(1);
  });
});

describe("an endpoint that fails", () => {
  const later =
    (text: string, first: Reply): ChatScript =>
    (_text, { again }) =>
      again === 0 ? first : { pieces: [text] };
  const troubles: readonly (readonly [string, Reply])[] = [
    [
      "is too busy",
      { status: 429, json: { error: { message: "slow down" } }, headers: { "retry-after": "0" } },
    ],
    ["fails", { status: 503, json: { error: "down" } }],
    ["says in the stream that it fails", { pieces: [{ error: { message: "overloaded", code: 502 } }] }],
    ["breaks off before a word", { pieces: [], breaks: true }],
  ];
  test.each(troubles)("because it %s is retried", async (_what, trouble) => {
    await serve(later("At last", trouble));
    const conversation = await answer("hi");
    expect([textIn(conversation), server.requests.length]).toEqual(["At last", 2]);
    expect(conversation.logged.map(one => one.text)).toEqual(["a model request failed and is retried"]);
  });

  test("in the middle of a stream is retried: the new response replaces the old one", async () => {
    await serve(later("A new answer", { pieces: ["An old ", "ans"], breaks: true }));
    const conversation = await answer("hi");
    expect([textIn(conversation), conversation.task.artifacts.length]).toEqual(["A new answer", 1]);
  });

  test("several times is retried, and the old response is still replaced", async () => {
    const replies: Reply[] = [
      { pieces: ["Old"], breaks: true },
      { pieces: [], breaks: true },
      { pieces: ["New"] },
    ];
    await serve((_text, { again }) => replies[again] as Reply);
    expect(textIn(await answer("hi"))).toBe("New");
  });

  test("fails the task after the last retry, with a message for the caller", async () => {
    await serve(() => ({ status: 500, json: { error: { message: "SECRET" } } }));
    const conversation = await answer("hi", { retries: 1 });
    expect([conversation.task.status.state, wordsIn(conversation)]).toEqual([
      "failed",
      "The model is not available at the moment: try again later",
    ]);
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(conversation.task)).not.toContain("SECRET");
  });

  test("with a long Retry-After fails the task, and the caller gets the time", async () => {
    const date = "Mon, 01 Jan 2029 00:00:00 GMT";
    const headers = { date, "retry-after": "Mon, 01 Jan 2029 00:10:00 GMT" };
    await serve(() => ({ status: 429, json: {}, headers }));
    const conversation = await answer("hi");
    expect(wordsIn(conversation)).toBe("The model is not available at the moment: try again in 600 seconds");
    expect(server.requests).toHaveLength(1);
  });

  async function* silent(...first: string[]): AsyncGenerator<string> {
    yield* first;
    await new Promise(() => {});
  }
  test.each([
    ["at all", { firstTokenMs: 50 }, silent],
    ["any more", { idleMs: 50 }, () => silent("Well, ")],
  ])("may not be silent for too long: it does not answer %s", async (_what, patience, pieces) => {
    await serve((_text, { again }) => (again === 0 ? { pieces: pieces() } : { pieces: ["Here"] }));
    // On a busy machine the second answer may come too late as well; a later one does not.
    expect(textIn(await answer("hi", { ...patience, retries: 20 }))).toBe("Here");
    expect(server.requests.length).toBeGreaterThan(1);
  });

  test("gets no further request when the task is canceled", async () => {
    await serve((_text, _asked, gone) => ({ pieces: until(gone) }));
    const conversation = new Conversation().addMessage("hi");
    const running = conversation.run(agentWith());
    running.catch(() => {});
    await expect.poll(() => server.requests.length).toBe(1);
    conversation.abort.abort(new Error("the run was canceled"));
    await expect(running).rejects.toThrow("the run was canceled");
    expect(server.requests).toHaveLength(1);
  });
  async function* until(gone: AbortSignal): AsyncGenerator<string> {
    while (!gone.aborted) {
      yield "more ";
      await new Promise(resolve => setTimeout(resolve, 5));
    }
  }
});

describe("errors that only an operator can fix are thrown, and never contain the key", () => {
  const wrong: readonly (readonly [string, Reply, RegExp])[] = [
    [
      "a wrong key",
      { status: 401, json: { error: { message: "Incorrect key: sk-secret" } } },
      /401: Incorrect key: \[key\]/,
    ],
    [
      "an unknown model",
      { status: 404, json: { error: { message: "no such model" } } },
      /404: no such model/,
    ],
    [
      "an empty account",
      { status: 429, json: { error: { message: "pay", code: "insufficient_quota" } } },
      /429: pay \(insufficient_quota\)/,
    ],
    ["something that is no answer", { json: { hello: 1 } }, /has no choice/],
  ];
  test.each(wrong)("%s", async (_what, reply, words) => {
    await serve(() => reply);
    const conversation = new Conversation().addMessage("hi");
    await expect(conversation.run(agentWith({ key: "sk-secret" }))).rejects.toThrow(words);
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify(conversation.logged)).not.toContain("sk-secret");
  });

  test("a redirect", async () => {
    const moved = new Response(null, { status: 308, headers: { location: "/v2" } });
    expect((await toEndpointError(moved)).message).toBe(
      "The endpoint redirects to /v2: set baseUrl to that URL",
    );
  });
});

describe("invalid options throw immediately", () => {
  const base = { name: "x", baseUrl: "http://localhost/v1", model: "m" };
  const cases: readonly (readonly [object, string])[] = [
    [{ ...base, modle: "m" }, 'openai() has no option "modle" (did you mean "model"?)'],
    [
      { name: "x", model: "m" },
      'openai(): baseUrl: expected a URL, such as "https://api.openai.com/v1", got undefined',
    ],
    [
      { ...base, baseUrl: "localhost" },
      'openai(): baseUrl: expected a URL, such as "https://api.openai.com/v1", got "localhost"',
    ],
    [
      { ...base, retries: 1.5 },
      "openai(): retries: expected a whole number from 0 to 20, got the number 1.5",
    ],
    [
      { ...base, headers: { a: 1 } },
      "openai(): headers: expected an object of strings, got an object with the keys a",
    ],
    [{ ...base, name: "No Name" }, 'The agent name "No Name" is not allowed'],
  ];
  test.each(cases)("%j", (options, words) => {
    expect(() => openai(options as OpenAiOptions)).toThrow(words);
  });
});
