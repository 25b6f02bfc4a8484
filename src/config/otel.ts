/** The export of traces, from the variables of OpenTelemetry and LangSmith. */

export type Env = Readonly<Record<string, string | undefined>>;

export interface OtelSettings {
  /** undefined: the given URL is invalid. */
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: OtelProtocol;
  /** The resource attributes of every span. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: OtelSampler;
  /** How long spans are collected before they are sent. */
  readonly delayMs: number;
  /** Invalid variables, for the log; the defaults are used instead. */
  readonly problems: readonly string[];
}
export type OtelProtocol = "http/json" | "http/protobuf";
export interface OtelSampler {
  readonly kind: "on" | "off" | "ratio";
  readonly ratio: number;
  /** The sampling decision of the caller is followed. */
  readonly parentBased: boolean;
}

/** The switches of LangChain's own tracer, in JavaScript and in Python. */
const LANGCHAIN_SWITCHES = /^LANG(?:SMITH|CHAIN)_TRACING(?:_V2)?$/;

/**
 * The variables for LangChain's tracer, which are to be removed: where this server sends its traces to LangSmith, that tracer
 * would send a second, unrelated trace of each run, with all its messages.
 */
export function findLangchainSwitches(env: Env): readonly string[] {
  const isElsewhere = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isLangsmith = !isElsewhere && env.LANGSMITH_API_KEY && readOtel(env) !== undefined;
  return isLangsmith
    ? Object.keys(env).filter(name => LANGCHAIN_SWITCHES.test(name) && isTrue(env[name]))
    : [];
}

/** undefined: traces are not exported. */
export function readOtel(env: Env): OtelSettings | undefined {
  if (isTrue(env.OTEL_SDK_DISABLED)) return undefined;
  const exporter = env.OTEL_TRACES_EXPORTER || undefined;
  if (exporter === "none") return undefined;
  const problems: string[] = [];
  const endpoint = readEndpoint(env, exporter, problems);
  if (!endpoint) return undefined;
  return {
    ...endpoint,
    protocol: readProtocol(env, problems),
    resource: readResource(env, problems),
    sampler: readSampler(env, problems),
    delayMs: readDelay(env, problems),
    problems,
  };
}

type OtlpEndpoint = Pick<OtelSettings, "url" | "headers">;
const COLLECTOR = "http://localhost:4318";
const LANGSMITH = "https://api.smith.langchain.com";

function readEndpoint(env: Env, exporter: string | undefined, problems: string[]): OtlpEndpoint | undefined {
  if (exporter !== undefined && exporter !== "otlp")
    problems.push(`OTEL_TRACES_EXPORTER=${exporter}: expected otlp or none; using otlp`);
  const specific = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || undefined;
  const general = env.OTEL_EXPORTER_OTLP_ENDPOINT || undefined;
  const key = isTrue(env.LANGSMITH_TRACING ?? "true") ? env.LANGSMITH_API_KEY || undefined : undefined;
  const headers = readPairs(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS || env.OTEL_EXPORTER_OTLP_HEADERS);
  if (specific !== undefined) return checkUrl(specific, headers, problems);
  if (general !== undefined) return checkUrl(joinUrl(general, "v1/traces"), headers, problems);
  if (key !== undefined) {
    const project = env.LANGSMITH_PROJECT ? { "Langsmith-Project": env.LANGSMITH_PROJECT } : {};
    const url = joinUrl(env.LANGSMITH_ENDPOINT || LANGSMITH, "otel/v1/traces");
    return checkUrl(url, { "x-api-key": key, ...project }, problems);
  }
  return exporter === undefined ? undefined : { url: joinUrl(COLLECTOR, "v1/traces"), headers };
}

function checkUrl(url: string, headers: OtlpEndpoint["headers"], problems: string[]): OtlpEndpoint {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return { url, headers };
  problems.push(`${url} is not a URL; expected one such as ${COLLECTOR}`);
  return { url: undefined, headers };
}

const joinUrl = (base: string, path: string): string => `${base.replace(/\/+$/, "")}/${path}`;
const isTrue = (text: string | undefined): boolean => text?.trim().toLowerCase() === "true";

function readProtocol(env: Env, problems: string[]): OtelProtocol {
  const name = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || "http/protobuf";
  if (name === "http/json" || name === "http/protobuf") return name;
  problems.push(
    `OTEL_EXPORTER_OTLP_PROTOCOL=${name}: expected http/protobuf or http/json; using http/protobuf`,
  );
  return "http/protobuf";
}

function readResource(env: Env, problems: string[]): Readonly<Record<string, string>> {
  const given = readPairs(env.OTEL_RESOURCE_ATTRIBUTES);
  if (env.OTEL_RESOURCE_ATTRIBUTES && Object.keys(given).length === 0)
    problems.push("OTEL_RESOURCE_ATTRIBUTES: expected a list such as key=value,key=value");
  const name = env.OTEL_SERVICE_NAME || given["service.name"] || "dragoman";
  return { ...given, "service.name": name };
}

const SAMPLERS: Readonly<Record<string, Omit<OtelSampler, "ratio">>> = {
  always_on: { kind: "on", parentBased: false },
  always_off: { kind: "off", parentBased: false },
  traceidratio: { kind: "ratio", parentBased: false },
  parentbased_always_on: { kind: "on", parentBased: true },
  parentbased_always_off: { kind: "off", parentBased: true },
  parentbased_traceidratio: { kind: "ratio", parentBased: true },
};

function readSampler(env: Env, problems: string[]): OtelSampler {
  const name = env.OTEL_TRACES_SAMPLER || "parentbased_always_on";
  const found = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined;
  if (!found) {
    const known = Object.keys(SAMPLERS).join(", ");
    problems.push(`OTEL_TRACES_SAMPLER=${name}: expected one of ${known}; using parentbased_always_on`);
  }
  return { kind: "on", parentBased: true, ...found, ratio: readRatio(env, problems) };
}

function readRatio({ OTEL_TRACES_SAMPLER_ARG: text }: Env, problems: string[]): number {
  const ratio = Number(text || 1);
  if (ratio >= 0 && ratio <= 1) return ratio;
  problems.push(`OTEL_TRACES_SAMPLER_ARG=${text}: expected a number from 0 to 1; using 1`);
  return 1;
}

const DELAY_MS = 5_000;

function readDelay({ OTEL_BSP_SCHEDULE_DELAY: text }: Env, problems: string[]): number {
  if (!text) return DELAY_MS;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  problems.push(`OTEL_BSP_SCHEDULE_DELAY=${text}: expected milliseconds; using ${DELAY_MS}`);
  return DELAY_MS;
}

/** `key=value,key=value` in the format of W3C baggage: values may be percent-encoded. */
function readPairs(text: string | undefined): Readonly<Record<string, string>> {
  const pairs = (text ?? "").split(",").flatMap(pair => {
    const at = pair.indexOf("=");
    const key = pair.slice(0, at).trim();
    return at > 0 && key !== "" ? [[key, decode(pair.slice(at + 1).trim())] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
