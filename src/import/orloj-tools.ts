/** Tools of the type `a2a` and MCP servers of Orloj. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { type ConfigObject, type ConfigValue, type ImportDraft, Variable } from "./draft.ts";
import type { Members } from "./members.ts";

/** A remote agent; undefined, with a note: the tool is of another type. */
export function toRemote(draft: ImportDraft, subject: string, members: Members): ConfigObject | undefined {
  const type = members.text("spec", "type") ?? "http";
  if (type === "mcp") {
    draft.note(subject, "is a tool of an McpServer: ctx.mcp finds it there");
    return undefined;
  }
  if (type !== "a2a") {
    draft.note(
      subject,
      `is not carried over: tools of the type ${type} have no counterpart; call it from an agent in code`,
    );
    return undefined;
  }
  const card = members.text("spec", "a2a", "agent_url");
  const description = members.text("spec", "description");
  const auth = toAuth(draft, subject, members);
  draft.noteRest(subject, members.rest());
  if (card !== undefined && URL.canParse(card)) return { card, description, auth };
  draft.note(subject, "is not carried over: spec.a2a.agent_url is not a URL");
  return undefined;
}

function toAuth(draft: ImportDraft, subject: string, members: Members): ConfigObject | undefined {
  const secret = members.text("spec", "auth", "secretRef");
  if (secret === undefined) return undefined;
  const profile = members.text("spec", "auth", "profile") ?? "bearer";
  const variable = (suffix = ""): string => draft.secret(secret + suffix, `a credential for ${subject}`);
  if (profile === "bearer") return { bearerEnv: variable() };
  if (profile === "api_key_header")
    return { apiKeyEnv: variable(), header: members.text("spec", "auth", "headerName") };
  const tokenUrl = members.text("spec", "auth", "tokenURL");
  if (profile === "oauth2_client_credentials" && tokenUrl !== undefined)
    return {
      oauth: {
        tokenUrl,
        clientId: new Variable(variable("-client-id")),
        clientSecretEnv: variable("-client-secret"),
        scope: members.texts("spec", "auth", "scopes")?.join(" "),
      },
    };
  draft.note(subject, `its credentials are not carried over: the profile ${profile} has no counterpart`);
  return undefined;
}

/** An entry of `mcpServers`; undefined, with a note: it cannot be used here. */
export function toMcpServer(draft: ImportDraft, subject: string, members: Members): ConfigValue | undefined {
  const isHttp = members.text("spec", "transport") === "http";
  const image = isHttp ? undefined : members.text("spec", "image");
  const server = isHttp ? toAddress(draft, subject, members) : toProgram(draft, subject, members);
  draft.noteRest(subject, members.rest());
  if (server !== undefined && image === undefined) return server;
  const program =
    image === undefined ? "spec.command is missing" : `the container ${image} is not started here`;
  draft.note(subject, `is not carried over: ${isHttp ? "spec.endpoint is not a URL" : program}`);
  return undefined;
}

function toAddress(draft: ImportDraft, subject: string, members: Members): ConfigObject | undefined {
  const url = members.text("spec", "endpoint");
  if (url === undefined || !URL.canParse(url)) return undefined;
  const secret = members.text("spec", "auth", "secretRef");
  const profile = members.text("spec", "auth", "profile") ?? "bearer";
  if (secret === undefined) return { url };
  const header = profile === "bearer" ? "Authorization" : members.text("spec", "auth", "headerName");
  if (header === undefined || !["bearer", "api_key_header"].includes(profile)) {
    draft.note(subject, `its credentials are not carried over: the profile ${profile} has no counterpart`);
    return { url };
  }
  const name = draft.secret(secret, `a credential for ${subject}`);
  return { url, headers: { [header]: new Variable(name, profile === "bearer" ? "Bearer " : "") } };
}

function toProgram(draft: ImportDraft, subject: string, members: Members): ConfigObject | undefined {
  const command = members.text("spec", "command");
  if (command === undefined) return undefined;
  const env = (members.list("spec", "env") ?? []).flatMap(one => toEntry(draft, subject, one));
  return {
    command,
    args: members.texts("spec", "args"),
    env: env.length > 0 ? Object.fromEntries(env) : undefined,
  };
}

function toEntry(draft: ImportDraft, subject: string, entry: Json): readonly [string, ConfigValue][] {
  const { name, value = "", secretRef, ...others } = isObject(entry) ? entry : ({} as JsonObject);
  if (typeof name !== "string") {
    draft.note(subject, "an entry of spec.env has no name");
    return [];
  }
  for (const other of Object.keys(others))
    draft.note(subject, `${other} of spec.env ${name} has no counterpart`);
  if (typeof secretRef !== "string")
    return [[name, typeof value === "string" ? value : JSON.stringify(value)]];
  // Two servers may want two values under one name.
  const variable = draft.secret(
    `${subject.split(" ").at(-1)}-${name}`,
    `${name} of ${subject}: the secret ${secretRef}`,
  );
  return [[name, new Variable(variable)]];
}
