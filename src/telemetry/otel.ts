/** An OpenTelemetry SDK as the environment variables configure it. Its packages are loaded only then. */
import type { ContextManager, TracerProvider } from "@opentelemetry/api";
import type { Sampler, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Log } from "../ports/index.ts";

/** Read by config/. */
export interface OtelParts {
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: "http/json" | "http/protobuf";
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: {
    readonly kind: "on" | "off" | "ratio";
    readonly ratio: number;
    readonly parentBased: boolean;
  };
  readonly delayMs: number;
  readonly problems: readonly string[];
}

export interface Provider {
  readonly provider: TracerProvider;
  readonly contexts: ContextManager;
  readonly ids: ChosenIds;
  /** Sends the remaining spans, if that is possible soon. */
  close(ms: number): Promise<void>;
}

interface ProviderParts {
  readonly version: string;
  readonly log: Log;
}

/** Tracing never stops the server: a wrong setting is logged, and nothing is sent. */
export async function loadProvider(otel: OtelParts, parts: ProviderParts): Promise<Provider | undefined> {
  const { log } = parts;
  for (const problem of otel.problems) log.warn({}, problem);
  const { url } = otel;
  if (url === undefined) return undefined;
  try {
    const provider = await createProvider({ ...otel, url }, parts);
    log.info({ url: withoutSecrets(url) }, "traces are sent");
    return provider;
  } catch (error) {
    log.warn({ err: error }, `Traces are not sent: ${toAdvice(error, otel)}`);
    return undefined;
  }
}

async function createProvider(
  otel: OtelParts & { readonly url: string },
  parts: ProviderParts,
): Promise<Provider> {
  const sdk = await import("@opentelemetry/sdk-trace");
  const { resourceFromAttributes, defaultResource } = await import("@opentelemetry/resources");
  const { AsyncLocalStorageContextManager } = await import("@opentelemetry/context-async-hooks");
  const { OTLPTraceExporter } =
    otel.protocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  const exporter = outspoken(
    new OTLPTraceExporter({ url: otel.url, headers: { ...otel.headers } }),
    parts.log,
  );
  const ids = new ChosenIds(new sdk.RandomIdGenerator());
  const attributes = { "service.version": parts.version, ...otel.resource };
  const provider = new sdk.TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(attributes)),
    sampler: toSampler(sdk, otel.sampler),
    idGenerator: ids,
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: otel.delayMs })],
  });
  return {
    provider,
    ids,
    contexts: new AsyncLocalStorageContextManager().enable(),
    async close(ms) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>(resolve => (timer = setTimeout(resolve, ms)));
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      clearTimeout(timer);
    },
  };
}

/** Not imported: the published types must be complete without the optional SDK. */
interface SpanIds {
  generateTraceId(): string;
  generateSpanId(): string;
}

/** Random ids, except for spans of runs, whose ids follow from the task so that a restart finds them. */
export class ChosenIds implements SpanIds {
  readonly #random: SpanIds;
  #next: string | undefined;

  constructor(random: SpanIds) {
    this.#random = random;
  }

  /** A span that is started in this context gets this id. */
  next<T>(id: string | undefined, start: () => T): T {
    this.#next = id;
    try {
      return start();
    } finally {
      this.#next = undefined;
    }
  }

  generateTraceId = (): string => this.#random.generateTraceId();

  generateSpanId = (): string => this.#next ?? this.#random.generateSpanId();
}

/** Logs once that spans cannot be sent, and once that they can again. */
function outspoken(exporter: SpanExporter, log: Log): SpanExporter {
  let failing = false;
  return {
    export(some, done) {
      exporter.export(some, result => {
        const failed = result.code !== 0;
        if (failed && !failing) log.warn({ err: result.error }, "traces cannot be sent; this is tried again");
        if (!failed && failing) log.info({}, "traces are sent again");
        failing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

type Sdk = typeof import("@opentelemetry/sdk-trace");

function toSampler(sdk: Sdk, { kind, ratio, parentBased }: OtelParts["sampler"]): Sampler {
  const samplers = {
    on: () => new sdk.AlwaysOnSampler(),
    off: () => new sdk.AlwaysOffSampler(),
    ratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  };
  const root = samplers[kind]();
  return parentBased ? new sdk.ParentBasedSampler({ root }) : root;
}

function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function toAdvice(error: unknown, { protocol }: OtelParts): string {
  if ((error as { readonly code?: string }).code !== "ERR_MODULE_NOT_FOUND")
    return "the SDK cannot be started";
  const kind = protocol === "http/json" ? "http" : "proto";
  const names = ["sdk-trace@3", "resources@3", "context-async-hooks@3", `exporter-trace-otlp-${kind}@0.301`];
  return `install what is needed for them with \`npm install ${names.map(one => `@opentelemetry/${one}`).join(" ")}\``;
}
