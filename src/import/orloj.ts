/** Resources of Orloj (`orloj.dev/v1`), in YAML or JSON: https://docs.orloj.dev */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { loadOptionalPackage } from "../lib/optional-package.ts";
import { StartupError } from "../lib/startup-error.ts";
import { type ConfigObject, ImportDraft, type ImportSource } from "./draft.ts";
import { Members } from "./members.ts";
import { toModel } from "./orloj-model.ts";
import { findOrder } from "./orloj-system.ts";
import { toMcpServer, toRemote } from "./orloj-tools.ts";

interface Resource {
  readonly kind: string;
  readonly name: string;
  /** For notes: "Agent planner". */
  readonly subject: string;
  readonly members: Members;
}

const KINDS = ["ModelEndpoint", "Tool", "McpServer", "AgentSystem", "Agent", "Secret"];

export async function importOrloj(sources: readonly ImportSource[]): Promise<ImportDraft> {
  const draft = new ImportDraft();
  const found: Resource[] = [];
  for (const source of sources) found.push(...(await readSource(draft, source)));
  const all = withoutRepeated(draft, found);
  const of = (kind: string): readonly Resource[] => all.filter(one => one.kind === kind);
  for (const { kind, subject } of all)
    if (!KINDS.includes(kind))
      draft.note(subject, `is not carried over: resources of this kind have no counterpart`);
  for (const { subject } of of("Secret"))
    draft.note(subject, "its values are not copied: set the variables that the config reads");
  // Clients of Orloj call systems: a system keeps its name if an agent has the same.
  const systems = of("AgentSystem").map(system => ({
    ...system,
    served: draft.claimName(system.subject, system.name),
  }));
  for (const { name, subject, members } of of("McpServer")) {
    const server = toMcpServer(draft, subject, members);
    if (server !== undefined) draft.mcpServers[name] = server;
  }
  const served = addAgents(draft, of("Agent"), of("ModelEndpoint"));
  addRemotes(draft, of("Tool"));
  for (const system of systems)
    if (system.served !== undefined) addSystem(draft, system, system.served, served);
  return draft;
}

async function readSource(draft: ImportDraft, { name, text }: ImportSource): Promise<readonly Resource[]> {
  const yaml = await loadOptionalPackage("yaml", "The import from Orloj", () => import("yaml"));
  const values = parse(yaml, name, text);
  const resources = values.flatMap(toItems).flatMap((value, index) => toResource(draft, name, value, index));
  if (resources.length === 0)
    throw new StartupError(`${name} has no resource of orloj.dev/v1 with a kind and a name`, { file: name });
  return resources;
}

/** JSON is YAML, too. References that expand to very much are refused by the library. */
function parse(yaml: typeof import("yaml"), file: string, text: string): readonly Json[] {
  try {
    return Array.from(yaml.parseAllDocuments(text), document => {
      if (document.errors[0]) throw document.errors[0];
      return document.toJS() as Json;
    });
  } catch (error) {
    throw new StartupError(`${file} is not valid YAML: ${(error as Error).message}`, { file, cause: error });
  }
}

/** A list of resources, as Orloj's API returns it, is its items. */
const toItems = (value: Json): readonly Json[] =>
  isObject(value) && Array.isArray(value.items) ? value.items : [value];

function toResource(draft: ImportDraft, file: string, value: Json, index: number): readonly Resource[] {
  if (value === null) return [];
  const { apiVersion, kind, metadata } = isObject(value) ? value : ({} as JsonObject);
  const name = isObject(metadata) ? metadata.name : undefined;
  if (apiVersion !== "orloj.dev/v1" || typeof kind !== "string" || typeof name !== "string") {
    draft.note(`${file}, document ${index + 1}`, "is not a resource of orloj.dev/v1 with a kind and a name");
    return [];
  }
  const members = new Members(value as JsonObject);
  for (const path of [["apiVersion"], ["kind"], ["metadata", "name"], ["status"]]) members.any(...path);
  return [{ kind, name, subject: `${kind} ${name}`, members }];
}

/** A name that is used twice, such as in two namespaces, is served once. */
function withoutRepeated(draft: ImportDraft, resources: readonly Resource[]): readonly Resource[] {
  const known = new Set<string>();
  return resources.filter(({ subject }) => {
    const isNew = !known.has(subject);
    if (!isNew) draft.note(subject, "appears again: only the first one is carried over");
    known.add(subject);
    return isNew;
  });
}

/** References are names, or `namespace/name`. */
const toName = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);

/** The served names by the names of the agents. */
function addAgents(
  draft: ImportDraft,
  agents: readonly Resource[],
  endpoints: readonly Resource[],
): ReadonlyMap<string, string> {
  const models = new Map(endpoints.map(one => [one.name, toModel(draft, one.subject, one.members)]));
  const served = new Map<string, string>();
  const unused = new Set(models.keys());
  for (const { name: wanted, subject, members } of agents) {
    const reference = toName(members.text("spec", "model_ref") ?? "");
    const model = models.get(reference);
    unused.delete(reference);
    if (model === undefined) {
      const reason = models.has(reference) ? "cannot be called" : "is not in the files";
      draft.note(subject, `is not carried over: its ModelEndpoint "${reference}" ${reason}`);
      continue;
    }
    const name = draft.claimName(subject, wanted);
    if (name === undefined) continue;
    served.set(wanted, name);
    draft.agents.push({ runtime: "openai", name, ...toAgent(draft, subject, members, model) });
  }
  for (const name of unused) draft.note(`ModelEndpoint ${name}`, "is not carried over: no agent uses it");
  return served;
}

function toAgent(draft: ImportDraft, subject: string, members: Members, model: ConfigObject): ConfigObject {
  const tools = [
    ...(members.texts("spec", "tools") ?? []),
    ...(members.texts("spec", "allowed_tools") ?? []),
  ];
  if (tools.length > 0)
    draft.note(
      subject,
      `its tools (${tools.join(", ")}) are not carried over: the runtime openai calls none`,
    );
  const schema = members.object("spec", "execution", "output_schema");
  const format = schema && {
    response_format: { type: "json_schema", json_schema: { name: "output", strict: true, schema } },
  };
  const entry = {
    description: members.text("metadata", "annotations", "orloj.dev/description"),
    ...model,
    system: members.text("spec", "prompt"),
    params: format ? { ...(model.params as ConfigObject | undefined), ...format } : model.params,
  };
  draft.noteRest(subject, members.rest());
  return entry;
}

function addRemotes(draft: ImportDraft, tools: readonly Resource[]): void {
  for (const { name: wanted, subject, members } of tools) {
    const remote = toRemote(draft, subject, members);
    const name = remote && draft.claimName(subject, wanted);
    if (name !== undefined) draft.agents.push({ runtime: "remote", name, ...remote });
  }
}

function addSystem(
  draft: ImportDraft,
  { subject, members }: Resource,
  name: string,
  served: ReadonlyMap<string, string>,
): void {
  const agents = (members.texts("spec", "agents") ?? []).map(toName);
  const order = findOrder(agents, members.object("spec", "graph") ?? {});
  const isEnabled = members.boolean("spec", "a2a", "enabled") === true;
  const auth = members.text("spec", "a2a", "auth");
  const description = members.text("metadata", "annotations", "orloj.dev/description");
  draft.noteRest(subject, members.rest());
  if ("reason" in order)
    return draft.note(
      subject,
      `is not carried over: ${order.reason}; write it as a LangGraph graph or with ctx.call`,
    );
  const missing = order.steps.find(step => !served.has(step));
  if (missing !== undefined)
    return draft.note(subject, `is not carried over: its agent ${missing} is not served`);
  if (auth !== undefined) draft.auth = "tokens";
  draft.default ??= isEnabled ? name : undefined;
  const steps = order.steps.map(step => served.get(step) as string);
  // Orloj: systems that are not enabled remain internal.
  const access = !isEnabled ? "internal" : auth === "public" ? "public" : undefined;
  if (access === "public")
    for (const step of steps) draft.makePublic(step, `the public ${subject} calls it for its callers`);
  draft.sequences.push({ name, description, access, steps });
}
