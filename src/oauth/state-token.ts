import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { Encryption } from "../ports/index.ts";

/** Which authorization an agent asked for, and for which task of which caller. */
export interface AuthorizationState {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly taskId: string;
  /** The message that asks: once it is answered, the token is void. */
  readonly messageId: string;
  readonly name: string;
  readonly scopes: readonly string[];
}
/** An authorization that a browser has begun: the OAuth parameter `state`. */
export interface BrowserState extends AuthorizationState {
  readonly verifier: string;
  /** The token request must repeat it (RFC 6749 §4.1.3). */
  readonly redirectUri: string;
  /** Also in a cookie of the browser that began it. */
  readonly nonce: string;
  readonly expiresAt: number;
}

/** Part of every token that was issued. */
type TokenKind = "ask" | "visit";

/** State that travels through browsers and providers, encrypted and authenticated. */
export function createStateTokens(encryption: Encryption) {
  const write = (kind: TokenKind, state: AuthorizationState | BrowserState): string =>
    encryption.encrypt(JSON.stringify({ ...state, kind }));

  /** undefined: not issued by this server, or for another purpose. */
  function read(kind: TokenKind, token: string): JsonObject | undefined {
    try {
      const state = JSON.parse(encryption.decrypt(token)) as Json;
      return isObject(state) && state.kind === kind ? state : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    writeRequest: (request: AuthorizationState): string => write("ask", request),
    writeBrowserState: (state: BrowserState): string => write("visit", state),
    readRequest: (token: string): AuthorizationState | undefined =>
      read("ask", token) as AuthorizationState | undefined,
    readBrowserState: (token: string): BrowserState | undefined =>
      read("visit", token) as BrowserState | undefined,
  };
}
export type StateTokens = ReturnType<typeof createStateTokens>;
