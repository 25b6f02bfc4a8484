/** The connection to one remote agent: its card is read once, and again after an error. */

import { isSameOrigin, parseAgentAddress } from "../../client/address.ts";
import { ClientError, RemoteError, UnavailableError } from "../../client/errors.ts";
import { createGrpc } from "../../client/grpc/index.ts";
import { type AgentAccess, openAgent, type RemoteAgent } from "../../client/open.ts";
import type { DialectName, ProtocolBinding } from "../../client/protocols.ts";
import type { JsonObject } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import type { Fetch } from "../../ports/index.ts";

export interface ConnectionOptions {
  /** The URL of the card or of the server, or the card itself. */
  readonly card?: string | JsonObject | undefined;
  /** The URL for calls, instead of the one in the card. */
  readonly endpoint?: string | undefined;
  readonly dialect?: DialectName | undefined;
  readonly transport?: ProtocolBinding | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** How the two kinds of URLs are fetched. */
export interface OutboundAccess {
  /** For URLs in the options. */
  readonly configured: Fetch;
  /** For URLs that only the card contains. */
  readonly fromCard: Fetch;
  /** gRPC is allowed for configured URLs: it connects without `fetch`, so its address is not checked. */
  readonly direct: boolean;
}

export interface OutboundCredentials {
  /** Authentication headers. `refused`: the server answered 401 to the last ones. */
  headers(fetch: Fetch, refused: boolean): Promise<Readonly<Record<string, string>>>;
}
export const NO_CREDENTIALS: OutboundCredentials = { headers: async () => ({}) };

/** Streaming is tried. */
const NO_CARD: JsonObject = { capabilities: { streaming: true } };

const WITHHELD =
  "The card points to another origin, where credentials are not sent: if it is right, set the option endpoint";

export type OpenedAgent = RemoteAgent & { readonly card: JsonObject };

export class AgentConnection {
  readonly #options: ConnectionOptions;
  readonly #credentials: OutboundCredentials;
  #opened: Promise<OpenedAgent> | undefined;
  /** The server's own access, if it has refreshed the card: the access of a run belongs to the trace of that run. */
  #serverAccess: OutboundAccess | undefined;
  /** The card points to an origin that is not configured: credentials are not sent there. */
  #isWithheld = false;

  constructor(options: ConnectionOptions, credentials: OutboundCredentials) {
    this.#options = options;
    this.#credentials = credentials;
  }

  /** For logs and messages. */
  get address(): string {
    const { card, endpoint } = this.#options;
    return endpoint ?? (typeof card === "string" ? card : "a card");
  }

  /** Concurrent callers share one connection attempt. */
  open(access: OutboundAccess, signal: AbortSignal): Promise<OpenedAgent> {
    this.#opened ??= this.#connect(this.#serverAccess ?? access);
    this.#opened.catch(this.forget);
    return unlessAborted(this.#opened, signal);
  }

  /** Reads the card again. */
  async refresh(access: OutboundAccess, signal: AbortSignal): Promise<JsonObject> {
    this.#serverAccess = access;
    const fresh = await unlessAborted(this.#connect(access), signal);
    const known = await this.#opened?.catch(() => undefined);
    // Calls in progress keep the connection they have.
    if (known?.endpoint.url === fresh.endpoint.url && known.streaming === fresh.streaming) fresh.close();
    else this.#opened = Promise.resolve(fresh);
    return fresh.card;
  }

  /** The next call reads the card again; calls in progress continue. */
  readonly forget = (): void => {
    this.#opened = undefined;
  };

  close(): void {
    this.#opened?.then(
      agent => agent.close(),
      () => undefined,
    );
    this.forget();
  }

  /** Adds the remedy to errors that options can fix. */
  explain(error: unknown, remedy: string): unknown {
    if (!(error instanceof ClientError)) return error;
    if (error.category === "private-address") return new ClientError(`${error.message}. ${remedy}`, error);
    if (error.category !== "unauthenticated" || !this.#isWithheld) return error;
    return new RemoteError("unauthenticated", `${error.message}. ${WITHHELD}`);
  }

  async #connect(access: OutboundAccess): Promise<OpenedAgent> {
    const { card, endpoint, dialect, transport } = this.#options;
    const source = typeof card === "string" ? parseAgentAddress(card, undefined) : { card: card ?? NO_CARD };
    const signal = AbortSignal.timeout(LIMITS.upstreamMs);
    const toAccess = (url: string): AgentAccess => this.#accessTo(access, url);
    try {
      return await openAgent({ source, url: endpoint, dialect, transport, access: toAccess }, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      const message = `The card of ${this.address} could not be read in ${LIMITS.upstreamMs} ms`;
      throw new UnavailableError(message, "no response");
    }
  }

  /**
   * A card may contain any URL. An origin (scheme, host and port) that is not configured is called like a URL of a
   * caller, and gets no credentials: another port of the same host may be another program.
   */
  #accessTo({ configured, fromCard, direct }: OutboundAccess, url: string): AgentAccess {
    this.#isWithheld = !this.#isConfigured(url);
    if (this.#isWithheld) return { fetch: fromCard, credentials: async () => ({}) };
    const headers = this.#options.headers ?? {};
    return {
      fetch: configured,
      credentials: async refused => ({
        ...headers,
        ...(await this.#credentials.headers(configured, refused)),
      }),
      grpc: direct ? createGrpc : undefined,
    };
  }

  #isConfigured(url: string): boolean {
    const { card, endpoint } = this.#options;
    // A card that is given as an object counts as configured with all its URLs.
    if (typeof card === "object") return true;
    return [card, endpoint].some(one => one !== undefined && isSameOrigin(url, one));
  }
}

/** An aborted caller stops waiting; `work` continues for the others. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
