import { request } from "node:http";
import type { AgentDefinition } from "../../../src/agent/definition.ts";
import { type GuardedServer, serveGuarded } from "../callers.ts";
import { type SseEvent, toEvent } from "../client.ts";
import type { Loose } from "../official-dialects.ts";
import { serve } from "../server.ts";
import { AGENTS } from "./agents.ts";

/** `on` is the default. */
export type Profile = "on" | "strict";

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** Undefined if the body is no JSON. */
  readonly json: Loose;
  readonly events: readonly SseEvent[];
}

type Headers = Readonly<Record<string, string>>;

/** Calls to real servers that all have the same profile. The same call is made once: statements share its response. */
export class Probe {
  readonly profile: Profile;
  readonly #servers = new Map<string, Promise<{ readonly url: string; stop(): Promise<void> }>>();
  readonly #replies = new Map<string, Promise<Reply>>();
  readonly #results = new Map<unknown, Promise<unknown>>();

  constructor(profile: Profile) {
    this.profile = profile;
  }

  /** A server with all agents, of which this one is the default; with `alone` it is the only one. */
  async url(agent = "echo", alone = false): Promise<string> {
    const others = alone ? [] : AGENTS.filter(({ name }) => name !== agent);
    const cast = [AGENTS.find(({ name }) => name === agent) as AgentDefinition, ...others];
    const server = this.#start(`${agent} ${alone}`, () => serve(cast, this.#settings()));
    return (await server).url;
  }

  /** A server that needs tokens. */
  async guarded(): Promise<GuardedServer> {
    return this.#start("guarded", () => serveGuarded(AGENTS, this.#settings())) as Promise<GuardedServer>;
  }

  #settings() {
    const { profile } = this;
    return { langgraph: profile, orloj: profile, arbiter: profile, simple: profile, cancelGraceMs: 50 };
  }

  #start(key: string, start: () => Promise<{ readonly url: string; stop(): Promise<void> }>) {
    const started = this.#servers.get(key) ?? start();
    this.#servers.set(key, started);
    return started;
  }

  /** `agent` is the default agent of the server that is called. */
  async post(path: string, body: unknown, headers: Headers = {}, agent = "echo"): Promise<Reply> {
    return this.send("POST", path, body, { "content-type": "application/json", ...headers }, agent);
  }

  async get(path: string, agent = "echo"): Promise<Reply> {
    return this.send("GET", path, undefined, {}, agent);
  }

  async send(verb: string, path: string, body: unknown, headers: Headers, agent = "echo"): Promise<Reply> {
    const key = JSON.stringify([verb, path, body, headers, agent]);
    const reply =
      this.#replies.get(key) ?? this.url(agent).then(url => fetchBare(url + path, verb, body, headers));
    this.#replies.set(key, reply);
    return reply;
  }

  /** The result of work that several statements share. */
  share<T>(work: (probe: Probe) => Promise<T>): Promise<T> {
    const result = this.#results.get(work) ?? work(this);
    this.#results.set(work, result);
    return result as Promise<T>;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#servers.values()].map(async server => (await server).stop()));
  }
}

/** Not fetch, which adds an `Accept` of its own. */
export function fetchBare(url: string, verb: string, body: unknown, headers: Headers): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sent = request(url, { method: verb, headers }, response => {
    let text = "";
    response.setEncoding("utf8").on("data", chunk => (text += chunk));
    response.on("end", () =>
      resolve({
        status: response.statusCode as number,
        type: response.headers["content-type"] ?? "",
        text,
        json: /^[{["n]/.test(text) ? JSON.parse(text) : undefined,
        events: text
          .split("\n\n")
          .map(toEvent)
          .filter(event => event !== null),
      }),
    );
  });
  sent.on("error", reject);
  sent.end(body === undefined || typeof body === "string" ? body : JSON.stringify(body));
  return promise;
}

/** A JSON-RPC call. */
export const call = (method: string, params?: unknown, more: object = {}) => ({
  jsonrpc: "2.0",
  id: "1",
  method,
  params,
  ...more,
});
