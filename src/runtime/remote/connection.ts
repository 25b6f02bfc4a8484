/** The way to one agent somewhere else: its card is read once, and again when the way turns out to be wrong. */

import { isSameOrigin, toTarget } from "../../client/address.ts";
import { Lost, Refusal, Trouble } from "../../client/errors.ts";
import { type AgentAccess, openAgent, type RemoteAgent } from "../../client/open.ts";
import type { DialectName, TransportName } from "../../client/protocols.ts";
import type { JsonObject } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import type { Fetch } from "../../ports/index.ts";
import type { Credentials } from "./auth.ts";

export interface Way {
  /** Where its card is, or its server; or the card itself. */
  readonly card?: string | JsonObject | undefined;
  /** Where calls go, whatever the card says. */
  readonly endpoint?: string | undefined;
  readonly dialect?: DialectName | undefined;
  readonly transport?: TransportName | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface WayOut {
  /** For the addresses that whoever made the way chose. */
  readonly chosen: Fetch;
  /** For an address that only the card names. */
  readonly named: Fetch;
  /** gRPC may be spoken with addresses that were chosen: it makes its own connections. */
  readonly direct: boolean;
}

const WITHHELD =
  "The card leads to another origin than its own, where credentials are not sent: if it is right, name it with the option endpoint";

export type OpenedAgent = RemoteAgent & { readonly card: JsonObject };

export class Connection {
  readonly #way: Way;
  readonly #credentials: Credentials;
  #opened: Promise<OpenedAgent> | undefined;
  /** The server's own way out, if it looked before anybody called: that of a run stands in the run's trace. */
  #out: WayOut | undefined;
  /** The card leads to an origin that was not chosen: credentials are not sent there. */
  #withheld = false;

  constructor(way: Way, credentials: Credentials) {
    this.#way = way;
    this.#credentials = credentials;
  }

  /** Where it leads, in words. */
  get address(): string {
    const { card, endpoint } = this.#way;
    return endpoint ?? (typeof card === "string" ? card : "a card");
  }

  /** Read by the first who asks, for all who ask meanwhile. */
  open(out: WayOut, signal: AbortSignal): Promise<OpenedAgent> {
    this.#opened ??= this.#connect(this.#out ?? out);
    this.#opened.catch(this.forget);
    return unlessAborted(this.#opened, signal);
  }

  /** The card as it is now. */
  async refresh(out: WayOut, signal: AbortSignal): Promise<JsonObject> {
    this.#out = out;
    const fresh = await unlessAborted(this.#connect(out), signal);
    const known = await this.#opened?.catch(() => undefined);
    // What is under way goes on as it began.
    if (known?.endpoint.url === fresh.endpoint.url && known.streaming === fresh.streaming) fresh.close();
    else this.#opened = Promise.resolve(fresh);
    return fresh.card;
  }

  /** What was known of it may be wrong: the next one looks again. Others may still be talking. */
  readonly forget = (): void => {
    this.#opened = undefined;
  };

  /** Nobody talks any more. */
  close(): void {
    this.#opened?.then(
      agent => agent.close(),
      () => undefined,
    );
    this.forget();
  }

  /** What whoever made the way can do about trouble on it. */
  explain(error: unknown, cure: string): unknown {
    if (!(error instanceof Trouble)) return error;
    if (error.symptom === "inside") return new Trouble(`${error.message}. ${cure}`, error);
    if (error.symptom !== "unauthenticated" || !this.#withheld) return error;
    return new Refusal("unauthenticated", `${error.message}. ${WITHHELD}`);
  }

  async #connect(out: WayOut): Promise<OpenedAgent> {
    const { card, endpoint, dialect, transport } = this.#way;
    const access = (url: string): AgentAccess => this.#access(out, url);
    const where =
      typeof card === "string" ? { target: toTarget(card, undefined) } : { target: undefined, card };
    const signal = AbortSignal.timeout(LIMITS.upstreamMs);
    try {
      return await openAgent({ ...where, url: endpoint, dialect, transport, access }, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new Lost(`${this.address} did not show its card in ${LIMITS.upstreamMs} ms`, "no answer");
    }
  }

  /**
   * A card may send calls anywhere. An origin (scheme, host and port) that the config or the author did not choose is
   * called with the same care as an address of a caller's, and gets no credentials: another port of the same host may be
   * another program.
   */
  #access(out: WayOut, url: string): AgentAccess {
    const { chosen, named, direct } = out;
    this.#withheld = !this.#isChosen(url);
    if (this.#withheld) return { fetch: named, credentials: async () => ({}), direct: false };
    const headers = this.#way.headers ?? {};
    return {
      fetch: chosen,
      credentials: async refused => ({ ...headers, ...(await this.#credentials.headers(chosen, refused)) }),
      direct,
    };
  }

  #isChosen(url: string): boolean {
    const { card, endpoint } = this.#way;
    // Whoever has a card in hand has chosen all that it names.
    if (typeof card === "object") return true;
    return [card, endpoint].some(one => one !== undefined && isSameOrigin(url, one));
  }
}

/** Whoever no longer waits does not end the waiting of others. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
