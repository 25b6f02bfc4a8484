/** Opens the authentication that the settings ask for, and checks the settings before anything is opened. */
import { type AuthSettings, createAuth, type TokenAdmin } from "../auth/index.ts";
import { isLoopback } from "../http/host-check.ts";
import { StartupError } from "../lib/startup-error.ts";
import type { LanggraphServer } from "../loader/langgraph-server.ts";
import type { AuthMode } from "../model/index.ts";
import type {
  Authenticator,
  AuthMethod,
  Catalog,
  CustomAuth,
  Endpoint,
  Fetch,
  TokenStore,
} from "../ports/index.ts";

export interface OpenAuthParts {
  readonly settings: AuthSettings & {
    readonly data: string;
    readonly host: string;
    readonly console: "off" | "read" | "on" | undefined;
    readonly langgraphFile?: Pick<LanggraphServer, "auth"> | undefined;
  };
  readonly catalog: Catalog;
  readonly fetch: Fetch;
  readonly wallTime: () => number;
  readonly ticks: () => number;
  readonly openTokens: () => Promise<TokenStore>;
  /** So many random bytes as lower-case hex. */
  readonly randomHex: (bytes: number) => string;
  readonly customAuth?: CustomAuth | undefined;
  /** Those that the program brought itself. */
  readonly methods: readonly AuthMethod[];
  /** Another program accepts the connections: from where is not known. */
  readonly isMounted: boolean;
}

export interface OpenAuth {
  readonly authenticator: Authenticator;
  /** Administration of tokens. */
  readonly endpoints: readonly Endpoint[];
  /** undefined: this server issues no tokens. */
  readonly tokens: TokenAdmin | undefined;
  close(): Promise<void>;
}

/** Without authentication, a console that other machines can reach must be asked for. */
export function consoleModeOf(
  settings: Pick<OpenAuthParts["settings"], "auth" | "host" | "console">,
  isMounted: boolean,
): "off" | "read" | "on" {
  const isSafe = !settings.auth.includes("none") || (!isMounted && isLoopback(settings.host));
  return settings.console ?? (isSafe ? "on" : "off");
}

export async function openAuth(parts: OpenAuthParts): Promise<OpenAuth> {
  const { settings } = parts;
  const tokens = settings.auth.includes("tokens") ? await parts.openTokens() : undefined;
  const isLocal = !parts.isMounted && isLoopback(settings.host);
  const auth = createAuth({ ...settings, ...parts, tokens, isLocal, custom: toCustom(parts) });
  return { ...auth, close: async () => tokens?.close() };
}

function toCustom({ customAuth, settings }: OpenAuthParts) {
  const rules = settings.langgraphFile?.auth;
  return (
    customAuth && { auth: customAuth, cache: rules?.cache, allowsStudio: rules?.isStudioGuarded === false }
  );
}

/** The option with the credentials of a mode. */
const CREDENTIAL_OPTIONS = {
  jwt: "jwt",
  "api-key": "apiKeys",
  mtls: "clientCertificates",
  custom: "authFile",
} as const;

/** A mode without credentials would let no caller in; credentials without their mode would be ignored. */
export function checkAuthSettings({ settings }: Pick<OpenAuthParts, "settings">): void {
  const { auth, data } = settings;
  for (const [mode, option] of Object.entries(CREDENTIAL_OPTIONS) as [AuthMode, keyof AuthSettings][]) {
    const isGiven = settings[option] !== undefined;
    if (isGiven && !auth.includes(mode))
      throw new StartupError(`The option ${option} has no effect without "${mode}" in auth. Add it there.`);
    if (!isGiven && mode !== "mtls" && auth.includes(mode))
      throw new StartupError(`auth contains "${mode}", which needs the option ${option}. Set it as well.`);
  }
  if (data === ":memory:" && auth.length === 1 && auth[0] === "tokens")
    throw new StartupError(
      "Tokens are stored in the data folder, and --data :memory: has none. Name a folder with --data DIR.",
    );
}

export interface ListenSettings {
  readonly auth: readonly AuthMode[];
  readonly host: string;
  readonly insecure: boolean;
  readonly tlsCert: string | undefined;
  readonly tlsClientCa: string | undefined;
}

/** For a server that listens itself. */
export function checkListenSettings({ auth, host, insecure, tlsCert, tlsClientCa }: ListenSettings): void {
  if (auth.includes("none") && !insecure && !isLoopback(host))
    throw new StartupError(
      `Other machines can reach ${host}, and no authentication is required. Require it with --auth tokens ` +
        "(create a token with `npx dragoman token create`), or allow this with --insecure if a firewall or a proxy protects the server.",
    );
  if (auth.includes("mtls") && tlsClientCa === undefined)
    throw new StartupError(
      'auth contains "mtls": name the authority of client certificates with --tls-client-ca.',
    );
  if (tlsClientCa !== undefined && tlsCert === undefined)
    throw new StartupError("Client certificates need TLS: set --tls-cert and --tls-key as well.");
}
