/** An agent of another server, as the target of a call. */
import type { CallOptions } from "../../agent/calls.ts";
import { type AgentUpdate, dedupe } from "../../client/dedupe.ts";
import { withRetry } from "../../client/retry.ts";
import type { JsonObject } from "../../lib/json.ts";
import { AgentConnection, NO_CREDENTIALS, type OpenedAgent, type OutboundAccess } from "./connection.ts";
import { cancelRemoteTask, RemoteCall, type SentMessage, toRetryOptions } from "./remote-call.ts";
import type { CallTarget, TargetParts } from "./target.ts";

const PRIVATE_ADDRESS =
  "Add it to the option callAllow; or call it with { trusted: true }, if no caller can influence the address";

export class RemoteTarget implements CallTarget {
  readonly name: string | undefined;
  readonly usage = undefined;
  readonly #parts: TargetParts;
  readonly #isTrusted: boolean;
  readonly #connection: AgentConnection;
  #agent: OpenedAgent | undefined;
  #call: RemoteCall | undefined;

  constructor(to: string | JsonObject, options: CallOptions, parts: TargetParts) {
    this.#parts = parts;
    this.#isTrusted = options.trusted === true;
    this.name = typeof to === "string" ? to : undefined;
    const { endpoint, dialect, headers } = options;
    // With a dialect and no endpoint the URL is the endpoint itself, without a card.
    const isEndpoint = dialect !== undefined && endpoint === undefined && typeof to === "string";
    const target = isEndpoint ? { endpoint: to } : { card: to, endpoint };
    this.#connection = new AgentConnection({ ...target, dialect, headers }, NO_CREDENTIALS);
  }

  async send(): Promise<SentMessage> {
    const call = await this.#open();
    return call.send();
  }

  async *read(sent: SentMessage): AsyncGenerator<AgentUpdate> {
    const call = await this.#open();
    yield* dedupe(call.read(sent), (this.#agent as OpenedAgent).endpoint.dialect);
  }

  async cancel(sent: SentMessage): Promise<void> {
    if (this.#agent) await cancelRemoteTask(this.#agent, sent, this.#parts.ctx.log);
  }

  explain(error: unknown): unknown {
    return this.#connection.explain(error, PRIVATE_ADDRESS);
  }

  close(): void {
    this.#connection.close();
  }

  async #open(): Promise<RemoteCall> {
    if (this.#call) return this.#call;
    const { signal, message } = this.#parts;
    const { log, attempt } = this.#parts.ctx;
    const retry = toRetryOptions({ log, signal }, this.#connection.address, attempt > 1);
    const agent = await withRetry(retry, () => this.#connection.open(this.#access(), signal));
    this.#agent = agent;
    this.#call = new RemoteCall({ agent, message: await message(), resend: true, signal, log });
    return this.#call;
  }

  /** The URL may come from a caller: private addresses are refused unless the author trusts it. */
  #access(): OutboundAccess {
    const { trusted, guarded } = this.#parts.ctx.outbound;
    return { configured: this.#isTrusted ? trusted : guarded, fromCard: guarded, direct: this.#isTrusted };
  }
}
