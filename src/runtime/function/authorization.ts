/** The request for a credential: as text for people, and as data for programs. */
import type { AuthRequest } from "../../agent/content.ts";
import { defined, type JsonObject } from "../../lib/json.ts";
import {
  CREDENTIAL_NAME_RULE,
  type CredentialRequest,
  isCredentialName,
  LIMITS,
  type Part,
} from "../../model/index.ts";
import type { AuthorizationOptions, Turn } from "../../ports/index.ts";
import { describeValue } from "../shared/describe-value.ts";
import { checkUrl } from "./content.ts";

export interface AuthPrompt {
  readonly auth: CredentialRequest;
  readonly parts: readonly Part[];
}

export function toAuthPrompt(request: AuthRequest, turn: Turn, messageId: string): AuthPrompt {
  const { name, scheme = "oauth2", scopes = [] } = checkRequest(request);
  const url = request.url === undefined ? undefined : checkUrl(request.url);
  const options = turn.authorizationOptions({ name, scopes, messageId });
  if (scheme === "oauth2" && url === undefined && options.url === undefined)
    turn.log.warn({ name }, "no page for this authorization: set the options `oauth` and `publicUrl`");
  const page = url ?? options.url;
  const auth = { ...request, name, scheme, scopes };
  const parts: readonly Part[] = [
    { kind: "text", text: toText(auth, page, options, page === options.url, turn) },
    { kind: "data", data: toData(auth, page, options, turn) },
  ];
  return { auth: { name, scheme }, parts };
}

function checkRequest(request: AuthRequest): AuthRequest {
  if (!isCredentialName(request?.name))
    throw new TypeError(
      `ctx.askAuth needs a name: ${CREDENTIAL_NAME_RULE}, got ${describeValue(request?.name)}`,
    );
  const { scheme = "oauth2", scopes = [], description = "" } = request;
  if (typeof scheme !== "string" || scheme === "" || scheme.length > LIMITS.idCharsMax)
    throw new TypeError(
      `The scheme of ctx.askAuth must be a string such as "oauth2", got ${describeValue(scheme)}`,
    );
  if (!Array.isArray(scopes) || !scopes.every(scope => typeof scope === "string"))
    throw new TypeError(
      `The scopes of ctx.askAuth must be an array of strings, got ${describeValue(scopes)}`,
    );
  if (typeof description !== "string")
    throw new TypeError(`The description of ctx.askAuth must be a string, got ${describeValue(description)}`);
  return request;
}

function toText(
  { name, description }: AuthRequest,
  page: string | undefined,
  { endpoint }: AuthorizationOptions,
  isOwnPage: boolean,
  { task }: Turn,
): string {
  const reason = description || `Authorization required: ${name}.`;
  if (page !== undefined && isOwnPage)
    return `${reason}\nOpen ${page} to authorize; the task then continues automatically.`;
  if (page !== undefined) return `${reason}\nOpen ${page} to authorize, then reply to this task.`;
  const answer = 'reply to this task with a data part {"credentials": {…}}';
  if (endpoint === undefined) return `${reason}\nTo authorize, ${answer}.`;
  const body = `{"agent": "${task.agent}", "taskId": "${task.id}", "credentials": {…}}`;
  return `${reason}\nTo authorize, POST ${body} to ${endpoint}, or ${answer}.`;
}

const toData = (
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
