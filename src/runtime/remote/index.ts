/** Agents that forward to a remote agent: `remote({ name, card: "https://…" })`. */
import { type AgentDefinition, agent, definitionError } from "../../agent/definition.ts";
import { DIALECT_NAMES, type DialectName, type ProtocolBinding } from "../../client/protocols.ts";
import { AgentConnection } from "../calls/connection.ts";
import { type Environment, withEnvironment } from "../shared/bind-environment.ts";
import {
  type CommonOptions,
  checkOptions,
  httpUrl,
  isRecord,
  milliseconds,
  type OptionRule,
  type OptionRules,
  pickCommonOptions,
  RULES,
} from "../shared/options.ts";
import { withUpstream } from "../shared/upstream.ts";
import { createCredentials, type RemoteAuth } from "./auth.ts";
import { toExtendedCard } from "./remote-card.ts";
import { run, toOutboundAccess } from "./run.ts";

export type { OAuthClient, RemoteAuth } from "./auth.ts";

export interface RemoteOptions extends CommonOptions {
  /** The URL of the card or of the server: https://agents.example/.well-known/agent-card.json */
  readonly card?: string | undefined;
  /** The URL for calls, instead of the one in the card; without a card, `dialect` is required, too. */
  readonly endpoint?: string | undefined;
  /** The dialect, instead of the one in the card. */
  readonly dialect?: DialectName | undefined;
  readonly transport?: ProtocolBinding | undefined;
  /** How this server authenticates at the remote agent. */
  readonly auth?: RemoteAuth | undefined;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The timeout of one turn; default: none. */
  readonly timeoutMs?: number | undefined;
}

const URL_RULE = httpUrl("https://agents.example");
const oneOf = (values: readonly string[]): OptionRule => ({
  expected: values.map(value => `"${value}"`).join(", "),
  is: value => values.includes(value as string),
});

const OPTION_RULES: OptionRules<RemoteOptions> = {
  card: URL_RULE,
  // gRPC endpoints may be `host:port`.
  endpoint: { ...URL_RULE, is: RULES.string.is },
  dialect: oneOf(DIALECT_NAMES),
  transport: oneOf(["JSONRPC", "HTTP+JSON", "GRPC"]),
  auth: {
    expected: "{ bearerEnv }, { apiKeyEnv, header } or { oauth: { tokenUrl, clientId, clientSecretEnv } }",
    is: isAuth,
  },
  headers: RULES.stringRecord,
  timeoutMs: milliseconds(1),
};

function isAuth(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { oauth, header } = value;
  const { is: isString } = RULES.string;
  if (isRecord(oauth))
    return (
      URL_RULE.is(oauth.tokenUrl) &&
      isString(oauth.clientId) &&
      isString(oauth.clientSecretEnv ?? oauth.clientSecret)
    );
  const secret = value.bearerEnv ?? value.bearer ?? value.apiKeyEnv ?? value.apiKey;
  return isString(secret) && (header === undefined || isString(header));
}

export function remote(options: RemoteOptions): AgentDefinition {
  checkOptions("remote()", options, OPTION_RULES);
  const { card, endpoint, dialect, auth, timeoutMs, onCrash } = options;
  if (card === undefined && (endpoint === undefined || dialect === undefined))
    throw definitionError("remote() needs a card; without one it needs both an endpoint and a dialect");
  const resend = (onCrash ?? "resume") === "resume";
  let variable: Environment["variable"] = () => undefined;
  let connection: AgentConnection | undefined;
  const connect = (): AgentConnection =>
    (connection ??= new AgentConnection(options, createCredentials(auth, variable)));
  const definition: AgentDefinition = {
    description: `The agent at ${card ?? endpoint}`,
    inputModes: ["*/*"],
    ...pickCommonOptions(options),
    run: (task, ctx) => run({ connection: connect(), timeoutMs, resend }, task, ctx),
  };
  const withCard = withUpstream(definition, {
    readCard: async (outbound, signal) => ({
      ...toExtendedCard(await connect().refresh(toOutboundAccess(outbound), signal)),
      ...pickCommonOptions(options),
    }),
    close: () => connection?.close(),
  });
  const bind = (environment: Environment): void => {
    ({ variable } = environment);
    // A variable that is not set is reported when the server starts, not with the first call.
    connect();
  };
  return agent(withEnvironment(withCard, bind));
}
