import type { JsonObject } from "../lib/json.ts";
import { agentNotFound } from "../model/index.ts";
import type { Agent, Authenticator, Catalog, Dialect, OperationResult, Signer } from "../ports/index.ts";
import type { Coverage } from "../signature/payloads.ts";
import { verifyCard } from "../signature/verify.ts";
import type { AdminCaller, AdminRoute } from "./access.ts";
import type { AgentRow, AgentUrl, CardForm, CardSignature } from "./api.ts";
import { type CardKind, lintCard } from "./card-lint.ts";
import { type TitledDialect, toTitled } from "./dialect-views.ts";
import type { FigureRecorder } from "./figures.ts";
import { readOwners, reply } from "./parameters.ts";
import type { CountTasks } from "./task-counts.ts";

export interface AgentRouteParts {
  readonly node: string;
  readonly countTasks: CountTasks;
  readonly catalog: Catalog;
  readonly authenticator: Authenticator;
  readonly dialects: readonly Dialect[];
  readonly titles: Readonly<Record<string, string>>;
  readonly signer: Signer;
  readonly figures: FigureRecorder;
  /** Host and port of gRPC for callers of this base URL. */
  readonly grpcAt: (base: string) => string | undefined;
}

type CardResult = OperationResult & { readonly kind: "card" };

export function createAgentRoutes(parts: AgentRouteParts): readonly AdminRoute[] {
  const { catalog, countTasks } = parts;

  /** An operator sees the agents of all tenants. */
  const visible = (caller: AdminCaller): readonly Agent[] =>
    caller.isOperator
      ? catalog.all().filter(({ name }) => caller.owners.agents?.has(name) ?? true)
      : catalog.visibleTo(caller.scope()).all();

  function find(caller: AdminCaller, name: string | undefined): Agent {
    const all = visible(caller);
    const found = all.find(agent => agent.name === name);
    if (!found) throw agentNotFound(name ?? "", all);
    return found;
  }

  const toRow = async (agent: Agent, base: string, caller: AdminCaller): Promise<AgentRow> => {
    const { runs, health } = parts.figures.agent(agent.name);
    const { card, policy } = agent;
    return {
      name: agent.name,
      description: card.description,
      version: card.version,
      isDefault: agent.name === catalog.defaultAgent,
      runtime: agent.runtime.name,
      health,
      replies: agent.replies ?? "either",
      streaming: card.streaming,
      pushNotifications: card.push,
      hasExtendedCard: agent.extendedCard !== undefined,
      access: policy.access === "public" ? "public" : "authenticated",
      inputSchema: agent.inputSchema ?? null,
      outputSchema: agent.outputSchema ?? null,
      inputModes: card.inputModes,
      outputModes: card.outputModes,
      skills: card.skills.map(({ id, name, description, tags, examples = [] }) => ({
        id,
        name,
        description,
        tags,
        examples,
        inputSchema: agent.skillSchemas?.[id]?.input ?? null,
      })),
      tasks: await countTasks(caller.owners, agent.name),
      runs: caller.isOperator ? { node: parts.node, ...runs } : null,
      addresses: toUrls(parts, agent, base),
    };
  };

  return [
    {
      verb: "GET",
      path: "/agents",
      needs: "read",
      summary: "The agents that the caller may see, with their health and their tasks",
      async serve({ base }, caller) {
        const agents = visible(caller).map(agent => toRow(agent, base(), caller));
        return reply({ agents: await Promise.all(agents) });
      },
    },
    {
      verb: "GET",
      path: "/agents/{agent}",
      needs: "read",
      summary: "One agent",
      serve: async ({ base, vars }, caller) => reply(await toRow(find(caller, vars.agent), base(), caller)),
    },
    {
      verb: "GET",
      path: "/agents/{agent}/cards",
      needs: "read",
      summary: "The cards of an agent in every form, with findings and verified signatures",
      async serve({ base, vars }, caller) {
        const agent = find(caller, vars.agent);
        return reply({ cards: await toCards(parts, agent, base(), caller) });
      },
    },
    {
      verb: "GET",
      path: "/tasks/counts",
      needs: "read",
      summary: "The number of tasks by state",
      serve: async ({ query }, caller) => reply(await countTasks(readOwners(query, caller))),
    },
  ];
}

// ---- addresses and cards -----------------------------------------------------------------------------------------

const BINDING_NAMES = { jsonrpc: "JSON-RPC", rest: "HTTP+JSON", document: "card" } as const;
/** A route that stands for the HTTP+JSON interface of a dialect. */
const REST_SEND = /^(.*)\/message:send$/;

function toUrls(
  { dialects, titles, grpcAt }: AgentRouteParts,
  agent: Agent,
  base: string,
): readonly AgentUrl[] {
  const name = encodeURIComponent(agent.name);
  const urls = toTitled(dialects, titles).flatMap(({ dialect, ...info }) =>
    dialect.routes
      .filter(route => route.path.includes("{agent}") && !route.path.includes("{tenant}"))
      .flatMap(({ transport, path }): readonly AgentUrl[] => {
        const at = transport === "rest" ? REST_SEND.exec(path)?.[1] : path;
        if (at === undefined || !/^[^{]*\{agent\}[^{]*$/.test(at)) return [];
        const url = `${base}${at.replace("{agent}", name)}`;
        return [{ dialect: info.name, title: info.title, binding: BINDING_NAMES[transport], url }];
      }),
  );
  const grpc = grpcAt(base);
  return grpc === undefined
    ? urls
    : [...urls, { dialect: "v1", title: titles.v1 ?? "v1", binding: "gRPC", url: grpc }];
}

const KINDS: Readonly<Record<string, CardKind>> = { hybrid: "v1", v1: "v1", extended: "v1", v03: "v03" };

async function toCards(
  parts: AgentRouteParts,
  agent: Agent,
  base: string,
  caller: AdminCaller,
): Promise<readonly CardForm[]> {
  const { catalog, authenticator, dialects, titles } = parts;
  const result: CardResult = {
    kind: "card",
    agent,
    isDefault: agent.name === catalog.defaultAgent,
    base,
    security: agent.policy.access === "public" ? [] : authenticator.schemes,
  };
  const forms = toTitled(dialects, titles).flatMap(titled => encodeForms(titled, result));
  if (agent.extendedCard) {
    const { subject: principal, grants, tenants } = caller.principal;
    const card = await agent.extendedCard({ tenant: tenants[0] ?? "", principal, grants });
    const v1 = dialects.find(dialect => dialect.name === "v1");
    const operation = { op: "card", agent: agent.name, base, form: "v1" } as const;
    const extended = v1?.encode(operation, { ...result, agent: { ...agent, card } });
    if (extended)
      forms.push({
        form: "extended",
        title: "Extended",
        path: "extendedAgentCard",
        card: extended as JsonObject,
      });
  }
  return Promise.all(forms.map(form => toForm(form, agent, parts.signer)));
}

interface EncodedCard {
  readonly form: string;
  readonly title: string;
  /** After the URL of the agent, or a whole path. */
  readonly path: string;
  readonly card: JsonObject;
}

function encodeForms({ name, title, dialect }: TitledDialect, result: CardResult): EncodedCard[] {
  const route = dialect.routes.find(
    ({ transport, path }) =>
      transport === "document" && path.includes("{agent}") && /agent-?card|agent\.json/i.test(path),
  );
  if (!route) return [];
  const encode = (form: string): JsonObject =>
    dialect.encode({ op: "card", agent: result.agent.name, base: result.base, form }, result) as JsonObject;
  const own = { form: name, title, path: route.path, card: encode(name) };
  return name === "v1" ? [{ ...own, form: "hybrid", title: "Hybrid", card: encode("hybrid") }, own] : [own];
}

async function toForm(
  { form, title, path, card }: EncodedCard,
  agent: Agent,
  signer: Signer,
): Promise<CardForm> {
  const name = encodeURIComponent(agent.name);
  const full = path.startsWith("/") ? path.replace("{agent}", name) : `/agents/${name}/${path}`;
  return {
    form,
    title,
    path: full,
    card,
    ...lintCard(card, KINDS[form] ?? "common"),
    signatures: await verify(card, signer),
  };
}

const COVERAGE: Readonly<Record<Coverage, string>> = {
  document: "Covers the whole card",
  "v1.0": "Covers the members of A2A 1.0",
  "v1.0 without securitySchemes": "Covers the members of A2A 1.0 except securitySchemes",
};

/** With the keys of this server. */
async function verify(card: JsonObject, signer: Signer): Promise<readonly CardSignature[]> {
  const { keys } = signer.jwks();
  const verdicts = await verifyCard(card, async ({ kid }) => {
    const key = keys.find(one => one.kid === kid);
    if (!key) throw new Error("The key of the signature is not a key of this server");
    return key;
  });
  return verdicts.map(verdict => ({
    isValid: verdict.valid,
    keyId: verdict.kid ?? null,
    algorithm: verdict.alg ?? null,
    text: verdict.valid ? COVERAGE[verdict.covers] : verdict.reason,
  }));
}
