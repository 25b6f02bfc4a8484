import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bearer } from "../support/callers.ts";
import { type Child, endChildren, refusedChild, startChild, writeAgent } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { openStream, rpc, type Stream, sendParams, toStream, until } from "../support/client.ts";
import { createGrpcClient } from "../support/grpc.ts";
import type { Loose } from "../support/official-dialects.ts";
import { tempFolder } from "../support/server.ts";

/** Tokens as their users know them: the command line beside a running server. */

let folder: ReturnType<typeof tempFolder>;
let data = "";
let agents: readonly string[] = [];
beforeEach(() => {
  folder = tempFolder();
  data = join(folder.path, "data");
  agents = [
    writeAgent(folder.path, "echo", "yield ctx.text(task.text);"),
    // Runs until it is aborted.
    writeAgent(
      folder.path,
      "slow",
      "yield ctx.text('begun'); await sleep(2 ** 30, null, { signal: ctx.signal });",
    ),
  ];
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

const start = (...flags: string[]): Promise<Child> =>
  startChild({
    agents,
    data,
    flags: ["--auth", "tokens", "--log-level", "error", "--drain-ms", "0", ...flags],
  });
const token = (...args: string[]) => runCli("token", ...args, "--data", data);

interface Made {
  readonly id: string;
  readonly headers: { readonly authorization: string };
}
async function create(...args: string[]): Promise<Made> {
  const { out, err, code } = await token("create", "--json", ...args);
  expect([code, err]).toEqual([0, ""]);
  const made = JSON.parse(out);
  return { id: made.id, headers: bearer(made.token) };
}

describe("a token", () => {
  it("is created beside a running server, is valid at once, and is revoked at once", async () => {
    const { url } = await start();
    const echo = `${url}/agents/echo`;
    expect((await rpc(echo, "SendMessage", sendParams("hi"))).status).toBe(401);
    const { out, err } = await token("create", "--principal", "alice");
    expect(out).toMatch(/^drg_[\w-]{43}\n$/);
    expect(err).toMatch(/^token [0-9a-f]{12} of alice expires at \S+; it is not shown again\n$/);
    const headers = bearer(out.trim());
    expect((await rpc(echo, "SendMessage", sendParams("hi"), headers)).status).toBe(200);
    // A token can be revoked by its secret as well as by its id.
    expect((await token("revoke", out.trim())).out).toMatch(/^token \w+ of alice is revoked\n$/);
    expect((await rpc(echo, "SendMessage", sendParams("hi"), headers)).body.error.message).toBe(
      "The token was revoked",
    );
  });

  it("is listed without its secret, with its last use, and over restarts", async () => {
    const made = await create(
      ...["--principal", "ci", "--tenant", "acme,beta", "--agents", "echo", "--scopes", "send,read"],
      ...["--expires", "30d", "--name", "nightly"],
    );
    const server = await start();
    const sent = await rpc(
      `${server.url}/agents/echo`,
      "SendMessage",
      { ...sendParams("hi"), tenant: "beta" },
      made.headers,
    );
    expect(sent.status).toBe(200);
    await server.stop();
    const listed = await token("list", "--json");
    expect(JSON.parse(listed.out)).toMatchObject({
      id: made.id,
      principal: "ci",
      tenants: ["acme", "beta"],
      agents: ["echo"],
      scopes: ["send", "read"],
      name: "nightly",
      lastUsedAt: expect.any(String),
    });
    expect((await token("list")).out).toMatch(
      /^ID .*\n\w+ +ci +acme,beta +send,read +echo +\S+ +(now|\d+ \w+ ago) +nightly\n$/,
    );
    expect(listed.out).not.toContain(made.headers.authorization.slice(11));
    const again = await start();
    expect((await rpc(again.url, "GetTask", { id: "x", tenant: "acme" }, made.headers)).status).not.toBe(401);
  });

  it("that is revoked or has expired is listed only with --all", async () => {
    const gone = await create("--principal", "gone");
    await create("--principal", "stays", "--expires", "never");
    await token("revoke", gone.id);
    expect((await token("list")).out).not.toContain("gone");
    expect((await token("list", "--all")).out).toMatch(/gone .* revoked/);
  });

  it("is not created from invalid options", async () => {
    for (const [args, problem] of [
      [["create"], "required option '--principal <name>'"],
      [["create", "--principal", "a\nb"], "It must be a name"],
      [["create", "--principal", "a", "--scopes", "everything"], "send, read, cancel, push, admin"],
      [["create", "--principal", "a", "--expires", "soon"], "It must be a duration like 30d"],
      [["revoke", "nothing"], "Token not found"],
    ] as const) {
      const { code, err } = await token(...args);
      expect([code, err.includes(problem)]).toEqual([1, true]);
    }
  });
});

describe("an open stream", () => {
  const begin = async (url: string, made: Made) => {
    const stream = await openStream(
      `${url}/agents/slow`,
      "SendStreamingMessage",
      sendParams("go"),
      made.headers,
    );
    const first = await stream.next();
    return { stream, id: first?.data.result.task.id as string };
  };
  const LAPSED = "The credentials have expired or were revoked";

  it("ends with a clear fault when its token is revoked, on every transport; the run continues", async () => {
    const { url } = await start();
    const made = await create("--principal", "alice");
    const other = await create("--principal", "alice");
    const { stream, id } = await begin(url, made);
    const staying = await begin(url, other);
    const controller = new AbortController();
    const path = `${url}/agents/slow/tasks/${id}:subscribe`;
    const headers = { ...made.headers, "a2a-version": "1.0" };
    const rest = toStream(await fetch(path, { headers, signal: controller.signal }), controller);
    await rest.next();
    const grpc = createGrpcClient(new URL(url).host);
    const calls = grpc.open("SubscribeToTask", { id }, { ...made.headers, "a2a-agent": "slow" });
    await calls.first();
    await token("revoke", made.id);
    const last = (await stream.all()).at(-1) as Loose;
    expect(last.data.error.message).toBe(LAPSED);
    const lastOfRest = (await rest.all()).at(-1);
    expect([lastOfRest?.event, lastOfRest?.data.error.status]).toEqual(["error", "UNAUTHENTICATED"]);
    expect((await calls.ended()).error).toMatchObject({ code: 16, details: LAPSED });
    grpc.close();
    const { body } = await rpc(`${url}/agents/slow`, "GetTask", { id }, other.headers);
    expect(body.result.status.state).toBe("TASK_STATE_WORKING");
    // A token that was not revoked still reads.
    await rpc(`${url}/agents/slow`, "CancelTask", { id: staying.id }, other.headers);
    expect((await staying.stream.all()).at(-1)?.data.result.statusUpdate.status.state).toBe(
      "TASK_STATE_CANCELED",
    );
  });

  it("ends when its token expires", async () => {
    const { url } = await start();
    const open = async (seconds: number): Promise<Stream> => {
      const { headers } = await create("--principal", "alice", "--expires", `${seconds}s`);
      return openStream(`${url}/agents/slow`, "SendStreamingMessage", sendParams("go"), headers);
    };
    // On a busy machine, where the token has expired before the stream is open, its lifetime grows.
    let seconds = 3;
    let stream = await open(seconds);
    while (stream.status === 401) stream = await open((seconds *= 2));
    expect((await stream.all()).at(-1)?.data.error.message).toBe(LAPSED);
  });

  it("a waiting send returns nothing to a token that was revoked meanwhile", async () => {
    const { url } = await start();
    const made = await create("--principal", "alice");
    const other = await create("--principal", "alice");
    const waiting = rpc(`${url}/agents/slow`, "SendMessage", sendParams("go"), made.headers);
    let id = "";
    await until(async () => {
      const { body } = await rpc(`${url}/agents/slow`, "ListTasks", {}, other.headers);
      id = body.result.tasks[0]?.id ?? "";
      return id !== "";
    });
    await token("revoke", made.id);
    await rpc(`${url}/agents/slow`, "CancelTask", { id }, other.headers);
    const { status, body } = await waiting;
    expect([status, body.error.message]).toEqual([401, LAPSED]);
  });
});

describe("a server does not start", () => {
  const refusedWith = async (...flags: string[]): Promise<string> => {
    const { code, err } = await refusedChild({ agents, data, flags });
    expect(code).toBe(1);
    return err;
  };

  it("if other machines could call it without authentication", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1"])
      expect(await refusedWith("--host", host)).toMatch(/--auth tokens.*--insecure/);
    const open = await startChild({ agents, data, flags: ["--host", "0.0.0.0", "--insecure"] });
    expect(
      (await rpc(`http://127.0.0.1:${open.port}/agents/echo`, "SendMessage", sendParams("hi"))).status,
    ).toBe(200);
    // Such callers may call, but are no administrators.
    expect((await fetch(`http://127.0.0.1:${open.port}/metrics`)).status).toBe(403);
    await open.stop();
    const asking = await startChild({ agents, data, flags: ["--host", "0.0.0.0", "--auth", "tokens"] });
    expect((await rpc(`http://127.0.0.1:${asking.port}/`, "SendMessage", sendParams("hi"))).status).toBe(401);
  });

  it("if no caller could be authenticated, or an option is invalid", async () => {
    expect(await refusedWith("--auth", "jwt")).toContain("needs the option jwt");
    expect(await refusedWith("--auth", "api-key")).toContain("needs the option apiKeys");
    expect(await refusedWith("--auth", "mtls")).toContain("--tls-client-ca");
    expect(await refusedWith("--auth", "tokens,none")).toContain('auth: expected "none", or a list of');
    const jwt = JSON.stringify({ issuer: "https://login.example", audience: "agents" });
    expect(await refusedWith("--jwt", jwt)).toContain('has no effect without "jwt" in auth');
    expect(await refusedWith("--auth", "jwt", "--jwt", '{"issuer":"https://login.example"}')).toContain(
      "jwt.0.audience",
    );
    const { err } = await refusedChild({ agents, data: ":memory:", flags: ["--auth", "tokens"] });
    expect(err).toContain("--data DIR");
  });
});
