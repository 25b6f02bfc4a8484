/** Agents that stand for agents somewhere else: `remote({ name, card: "https://…" })`. */
import { type AgentDefinition, agent } from "../../agent/definition.ts";
import { DIALECT_NAMES, type DialectName, type TransportName } from "../../client/protocols.ts";
import { equippable } from "../shared/bind-environment.ts";
import {
  checkOptions,
  type Described,
  describedIn,
  isRecord,
  ms,
  RULES,
  type Rule,
  type Rules,
  wrong,
} from "../shared/options.ts";
import { withUpstream } from "../shared/remote-source.ts";
import { createCredentials, type RemoteAuth } from "./auth.ts";
import { readFacts } from "./card-facts.ts";
import { Connection } from "./connection.ts";
import { run, toWayOut } from "./run.ts";

export type { OAuthClient, RemoteAuth } from "./auth.ts";

export interface RemoteOptions extends Described {
  /** Where its card is, or its server: https://agents.example/.well-known/agent-card.json */
  readonly card?: string | undefined;
  /** Where calls go, whatever the card says; without a card, `dialect` must be told, too. */
  readonly endpoint?: string | undefined;
  /** What is spoken there, whatever the card says. */
  readonly dialect?: DialectName | undefined;
  readonly transport?: TransportName | undefined;
  /** Who we are there. */
  readonly auth?: RemoteAuth | undefined;
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long one turn may take; default: as long as it takes. */
  readonly timeoutMs?: number | undefined;
}

const isAddress = (value: unknown): boolean =>
  typeof value === "string" && /^https?:$/.test(URL.parse(value)?.protocol ?? "");
const address: Rule = { expected: 'an address such as "https://agents.example"', is: isAddress };
const oneOf = (words: readonly string[]): Rule => ({
  expected: words.map(word => `"${word}"`).join(", "),
  is: value => words.includes(value as string),
});

const OPTION_RULES: Rules<RemoteOptions> = {
  card: address,
  endpoint: { ...address, is: value => typeof value === "string" && value !== "" },
  dialect: oneOf(DIALECT_NAMES),
  transport: oneOf(["JSONRPC", "HTTP+JSON", "GRPC"]),
  auth: {
    expected: "{ bearerEnv }, { apiKeyEnv, header } or { oauth: { tokenUrl, clientId, clientSecretEnv } }",
    is: isAuth,
  },
  headers: RULES.texts,
  timeoutMs: ms(1),
};

function isAuth(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { oauth, header } = value;
  const isText = RULES.text.is;
  if (isRecord(oauth))
    return (
      isAddress(oauth.tokenUrl) &&
      isText(oauth.clientId) &&
      isText(oauth.clientSecretEnv ?? oauth.clientSecret)
    );
  const secret = value.bearerEnv ?? value.bearer ?? value.apiKeyEnv ?? value.apiKey;
  return isText(secret) && (header === undefined || isText(header));
}

export function remote(options: RemoteOptions): AgentDefinition {
  checkOptions("remote()", options, OPTION_RULES);
  const { card, endpoint, dialect, auth, timeoutMs, onCrash } = options;
  if (card === undefined && (endpoint === undefined || dialect === undefined))
    throw wrong("remote() needs a card; without one it needs both an endpoint and a dialect");
  let variable: (name: string) => string | undefined = () => undefined;
  let opened: Connection | undefined;
  const connection = (): Connection =>
    (opened ??= new Connection(options, createCredentials(auth, variable)));
  const definition: AgentDefinition = {
    description: `The agent at ${card ?? endpoint}`,
    inputModes: ["*/*"],
    ...describedIn(options),
    run: (task, ctx) =>
      run({ connection: connection(), timeoutMs, again: (onCrash ?? "resume") === "resume" }, task, ctx),
  };
  const known = withUpstream(definition, {
    look: async (outbound, signal) => ({
      ...readFacts(await connection().refresh(toWayOut(outbound), signal)),
      ...describedIn(options),
    }),
    close: () => opened?.close(),
  });
  return agent(
    equippable(known, surroundings => {
      ({ variable } = surroundings);
      // What is missing is told when the server starts, not when somebody calls.
      connection();
    }),
  );
}
