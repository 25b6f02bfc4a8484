import { type Attributes, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Trace } from "../model/index.ts";
import type { Fetch } from "../ports/index.ts";
import { ATTRIBUTES, toParent, toTrace } from "./spans.ts";
import type { Tracing } from "./tracing.ts";

/** A span per outgoing call, child of the span in its headers; the called server continues the trace. */
export function tracedFetch(fetch: Fetch, tracing: Tracing): Fetch {
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    const trace = readTrace(headers);
    const method = init.method ?? "GET";
    const attributes = { ...toAttributes(url, method), ...tracing.factsOf(trace) };
    const span = tracing.tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, toParent(trace));
    writeTrace(headers, toTrace(span.spanContext(), trace?.baggage));
    try {
      const response = await fetch(url, { ...init, headers });
      span.setAttribute("http.response.status_code", response.status);
      if (response.status >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
      return response;
    } catch (error) {
      const { name, code } = error as { readonly name?: string; readonly code?: string };
      span.setAttribute(ATTRIBUTES.error, code ?? name ?? "Error");
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  };
}

/** Adds these headers, unless the call has its own. */
export const withTraceHeaders =
  (fetch: Fetch, trace: Trace): Fetch =>
  (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("traceparent")) writeTrace(headers, trace);
    return fetch(url, { ...init, headers });
  };

function readTrace(headers: Headers): Trace | undefined {
  const traceparent = headers.get("traceparent");
  if (traceparent === null) return undefined;
  const [tracestate, baggage] = [headers.get("tracestate"), headers.get("baggage")];
  return { traceparent, ...(tracestate !== null && { tracestate }), ...(baggage !== null && { baggage }) };
}

function writeTrace(headers: Headers, { traceparent, tracestate, baggage }: Trace): void {
  headers.set("traceparent", traceparent);
  if (tracestate !== undefined) headers.set("tracestate", tracestate);
  if (baggage !== undefined && !headers.has("baggage")) headers.set("baggage", baggage);
}

/** Without user info and query: they may be secret, or different for each call. */
function toAttributes(url: string | URL, method: string): Attributes {
  const { protocol, host, hostname, pathname, port } = new URL(url);
  return {
    "http.request.method": method,
    "url.full": `${protocol}//${host}${pathname}`,
    "server.address": hostname,
    ...(port !== "" && { "server.port": Number(port) }),
  };
}
