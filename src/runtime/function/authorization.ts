/** What an agent says that needs its caller's rights: words for a person, and the same for a program. */
import type { AuthRequest } from "../../agent/definition.ts";
import { defined, type JsonObject } from "../../lib/json.ts";
import {
  CREDENTIAL_NAME_RULE,
  type CredentialRequest,
  isCredentialName,
  LIMITS,
  type Part,
} from "../../model/index.ts";
import type { AuthorizationOptions, Turn } from "../../ports/index.ts";
import { checkUrl, describe } from "./content.ts";

export interface Asking {
  readonly auth: CredentialRequest;
  readonly parts: readonly Part[];
}

export function toAsking(request: AuthRequest, turn: Turn, messageId: string): Asking {
  const { name, scheme = "oauth2", scopes = [] } = checkRequest(request);
  const url = request.url === undefined ? undefined : checkUrl(request.url);
  const ways = turn.authorizationOptions({ name, scopes, messageId });
  if (scheme === "oauth2" && url === undefined && ways.url === undefined)
    turn.log.warn({ name }, "there is no page where callers can authorize this: see `oauth` and `publicUrl`");
  const page = url ?? ways.url;
  const asked = { ...request, name, scheme, scopes };
  const parts: readonly Part[] = [
    { kind: "text", text: toWords(asked, page, ways, page === ways.url, turn) },
    { kind: "data", data: toFacts(asked, page, ways, turn) },
  ];
  return { auth: { name, scheme }, parts };
}

function checkRequest(request: AuthRequest): AuthRequest {
  if (!isCredentialName(request?.name))
    throw new TypeError(`ctx.askAuth needs a name: ${CREDENTIAL_NAME_RULE}, got ${describe(request?.name)}`);
  const { scheme = "oauth2", scopes = [], description = "" } = request;
  if (typeof scheme !== "string" || scheme === "" || scheme.length > LIMITS.idCharsMax)
    throw new TypeError(`The scheme of ctx.askAuth must be a word such as "oauth2", got ${describe(scheme)}`);
  if (!Array.isArray(scopes) || !scopes.every(scope => typeof scope === "string"))
    throw new TypeError(`The scopes of ctx.askAuth must be a list of texts, got ${describe(scopes)}`);
  if (typeof description !== "string")
    throw new TypeError(`The description of ctx.askAuth must be a text, got ${describe(description)}`);
  return request;
}

function toWords(
  { name, description }: AuthRequest,
  page: string | undefined,
  { endpoint }: AuthorizationOptions,
  isOurs: boolean,
  { task }: Turn,
): string {
  const what = description || `This needs your authorization: ${name}.`;
  if (page !== undefined && isOurs)
    return `${what}\nOpen ${page} to give it; the work then goes on by itself.`;
  if (page !== undefined) return `${what}\nOpen ${page} to give it, then answer here.`;
  const answer = 'answer this task with a data part {"credentials": {…}}';
  if (endpoint === undefined) return `${what}\nTo give it, ${answer}.`;
  const body = `{"agent": "${task.agent}", "taskId": "${task.id}", "credentials": {…}}`;
  return `${what}\nTo give it, post ${body} to ${endpoint}, or ${answer}.`;
}

const toFacts = (
  { name, scheme, scopes }: AuthRequest,
  url: string | undefined,
  { endpoint }: AuthorizationOptions,
  { task }: Turn,
): JsonObject => ({
  authorization: defined<JsonObject>({
    name,
    scheme: scheme ?? "oauth2",
    scopes: scopes?.length ? scopes : (undefined as never),
    url: url as string,
    credentialsUrl: endpoint as string,
    agent: task.agent,
    taskId: task.id,
  }),
});
