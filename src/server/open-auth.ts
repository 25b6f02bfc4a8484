/** Who may come in, as the settings say it; what is opened for that is closed here. */
import { type AccessSettings, createAccess } from "../auth/index.ts";
import { isLoopback } from "../http/host-check.ts";
import type { AuthMode } from "../model/index.ts";
import type { Authenticator, Catalog, Endpoint, Fetch, TokenStore } from "../ports/index.ts";
import { StartRefusal } from "./admin-routes.ts";

export interface AdmissionParts {
  readonly settings: AccessSettings & { readonly data: string; readonly host: string };
  readonly catalog: Catalog;
  readonly fetch: Fetch;
  readonly wallTime: () => number;
  readonly ticks: () => number;
  readonly openTokens: () => Promise<TokenStore>;
  /** That many bytes of chance, as lower-case hex. */
  readonly chance: (bytes: number) => string;
  /** Callers come through a program of somebody else: who can reach it is not known. */
  readonly mounted: boolean;
}

export interface Admission {
  readonly guard: Authenticator;
  /** What administrators can do about it. */
  readonly own: readonly Endpoint[];
  close(): Promise<void>;
}

export async function openAdmission(parts: AdmissionParts): Promise<Admission> {
  const { settings, mounted } = parts;
  const book = settings.auth.includes("tokens") ? await parts.openTokens() : undefined;
  const isLocal = !mounted && isLoopback(settings.host);
  const { guard, own } = createAccess({ ...parts, ...settings, book, isLocal });
  return { guard, own, close: async () => book?.close() };
}

/** What callers show, by the mode that takes it. */
const OPTION_OF = { jwt: "jwt", "api-key": "apiKeys", mtls: "clientCertificates" } as const;

/** A mistake here lets everybody in, or nobody: it is seen before anything is opened. */
export function checkAccess(settings: AdmissionParts["settings"]): void {
  const { auth, data } = settings;
  for (const [mode, option] of Object.entries(OPTION_OF) as [AuthMode, keyof AccessSettings][]) {
    const isGiven = settings[option] !== undefined;
    if (isGiven && !auth.includes(mode))
      throw new StartRefusal(`The option ${option} is given, but means nothing without "${mode}" in auth.`);
    if (!isGiven && mode !== "mtls" && auth.includes(mode))
      throw new StartRefusal(
        `auth has "${mode}", but nobody could get in with it: give the option ${option} as well.`,
      );
  }
  if (data === ":memory:" && auth.length === 1 && auth[0] === "tokens")
    throw new StartRefusal(
      "Tokens are kept in the data folder, and there is none: nobody could get in. Give one with --data DIR.",
    );
}

export interface DoorSettings {
  readonly auth: readonly AuthMode[];
  readonly host: string;
  readonly insecure: boolean;
  readonly tlsCert: string | undefined;
  readonly tlsClientCa: string | undefined;
}

/** The same for what concerns a port of our own. */
export function checkDoor({ auth, host, insecure, tlsCert, tlsClientCa }: DoorSettings): void {
  // Everybody may call a server without auth: no other machine must reach it by accident.
  if (auth.includes("none") && !insecure && !isLoopback(host))
    throw new StartRefusal(
      `Other machines can reach ${host}, and without auth everybody may call. Ask callers who they are with ` +
        "--auth tokens (and make one with `dragoman token create`), or say --insecure if a network or a proxy keeps strangers out.",
    );
  if (auth.includes("mtls") && tlsClientCa === undefined)
    throw new StartRefusal(
      'auth has "mtls": give the authority of callers\' certificates with --tls-client-ca.',
    );
  if (tlsClientCa !== undefined && tlsCert === undefined)
    throw new StartRefusal("Callers show certificates over TLS only: give --tls-cert and --tls-key as well.");
}
