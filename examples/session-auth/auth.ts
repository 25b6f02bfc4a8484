/** Authentication by the session cookie of a web application: its users call agents without a token. */
import { type AgentName, type AuthMethod, Fault, type Identity, type RequestHeaders } from "dragoman/ports";

/** The sessions of the application. */
export interface Sessions {
  /** undefined: there is no such session, or it has ended. */
  find(id: string): Identity | undefined;
}

const COOKIE = "session";

/** `createServer({ agents, authenticators: [createSessionAuth(sessions)] })` */
export const createSessionAuth = (sessions: Sessions): AuthMethod => ({
  schemes: [
    { name: "session", kind: "api-key", header: "Cookie", description: "The session of the application" },
  ],
  challenge: problem => `Session realm="app"${problem === undefined ? "" : `, error="${problem}"`}`,
  authenticate({ headers }) {
    const id = readCookie(headers);
    if (id === undefined) return undefined;
    const user = sessions.find(id);
    if (!user) throw new Fault("unauthenticated", "The session has ended");
    return {
      subject: user.principal,
      tenants: user.tenants,
      grants: user.grants,
      agents: user.agents && new Set(user.agents as readonly AgentName[]),
      // Asked again while a stream is open: it ends with the session.
      isValid: () => sessions.find(id) !== undefined,
    };
  },
});

function readCookie({ cookie = "" }: RequestHeaders): string | undefined {
  const pairs = cookie.split(";").map(pair => pair.trim().split("="));
  return pairs.find(([name]) => name === COOKIE)?.[1];
}
