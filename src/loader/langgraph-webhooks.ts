/** The section `webhooks` of LangGraph's config file. */
import { LIMITS, type WebhookRules } from "../model/index.ts";
import { type ConfigSection, isMembers } from "./config-section.ts";

/** Headers may name variables of the environment that begin with this, unless the file says otherwise. */
const ENV_PREFIX = "LG_WEBHOOK_";
/** `${{ env.NAME }}` */
const VARIABLE = /\$\{\{\s*env\.(\w+)\s*\}\}/g;
const HEADER = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** Headers of the delivery itself. */
const RESERVED = /^(?:connection|content-.*|host|transfer-encoding|user-agent|webhook-.*)$/i;

/** `headers`: the texts of the file, with their variables. */
export function readWebhooks(section: ConfigSection | undefined): WebhookRules {
  const url = section?.section("url");
  const prefix = section?.text("env_prefix") ?? ENV_PREFIX;
  const rules = {
    headers: section ? readHeaders(section, prefix) : {},
    allowedDomains: url?.texts("allowed_domains", 'a list of hosts such as "*.example.com"'),
    allowedPorts: readPorts(url),
    requiresHttps: url?.boolean("require_https") ?? false,
    isLoopbackOff: url?.boolean("disable_loopback") ?? false,
    urlCharsMax: url?.integer("max_url_length", 1, LIMITS.pushUrlCharsMax) ?? LIMITS.pushUrlCharsMax,
  };
  url?.finish();
  section?.finish();
  return rules;
}

function readHeaders(section: ConfigSection, prefix: string): Readonly<Record<string, string>> {
  const headers = section.raw("headers") ?? {};
  if (!isMembers(headers)) {
    section.refuse("headers", "must be an object of texts");
    return {};
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER.test(name) || RESERVED.test(name))
      section.refuse("headers", `must not have the header ${name}`);
    if (typeof value !== "string" || /[\r\n]/.test(value))
      section.refuse("headers", "must be an object of texts");
    else
      for (const [, variable = ""] of value.matchAll(VARIABLE))
        if (!variable.startsWith(prefix))
          section.refuse("headers", `may only name variables that begin with ${prefix} (env_prefix)`);
  }
  return headers as Readonly<Record<string, string>>;
}

function readPorts(url: ConfigSection | undefined): readonly number[] | undefined {
  const ports = url?.raw("allowed_ports") ?? undefined;
  const isPort = (port: unknown): port is number => Number.isInteger(port) && 0 < (port as number);
  if (ports === undefined || (Array.isArray(ports) && ports.every(isPort))) return ports;
  url?.refuse("allowed_ports", "must be a list of ports");
  return undefined;
}

/** Puts the variables of the environment into the headers; one that is not set is empty. */
export function withVariables(
  rules: WebhookRules,
  env: Readonly<Record<string, string | undefined>>,
): WebhookRules {
  const fill = (text: string): string => text.replaceAll(VARIABLE, (_, name: string) => env[name] ?? "");
  const headers = Object.entries(rules.headers).map(([name, value]) => [name, fill(value)] as const);
  return { ...rules, headers: Object.fromEntries(headers) };
}
