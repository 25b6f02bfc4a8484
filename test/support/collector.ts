import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { type JsonExport, type ReceivedSpan, readJson, readProtobuf } from "./otlp.ts";

export interface Export {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A collector of spans: a server with OTLP over HTTP, in JSON and in Protocol Buffers. */
export interface Collector {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly exports: readonly Export[];
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const exports: Export[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { headers } = request;
    const isJson = headers["content-type"] === "application/json";
    spans.push(...(isJson ? readJson(JSON.parse(body.toString("utf8")) as JsonExport) : readProtobuf(body)));
    exports.push({ path: request.url ?? "", headers });
    response.writeHead(200, { "Content-Type": headers["content-type"] ?? "" });
    response.end(isJson ? "{}" : "");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    exports,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/**
 * The tree of a trace, as lines: each span two columns to the right of its parent, siblings sorted by name.
 * An append of a run has a span only if it took long: on a busy machine there may be several, and those of
 * one parent are merged into one line.
 */
export function treeOf(spans: readonly ReceivedSpan[]): readonly string[] {
  const known = new Set(spans.map(span => span.spanId));
  const roots = spans.filter(span => !known.has(span.parentSpanId));
  const lines = (span: ReceivedSpan, depth: number): readonly string[] => [
    `${"  ".repeat(depth)}${span.resource["service.name"]}: ${span.name}`,
    ...below(spans.filter(one => one.parentSpanId === span.spanId)).flatMap(one => lines(one, depth + 1)),
  ];
  return below(roots).flatMap(span => lines(span, 0));
}

const below = (spans: readonly ReceivedSpan[]): readonly ReceivedSpan[] =>
  spans
    // Only slow appends have one.
    .filter(span => span.name !== "log append")
    .toSorted((one, other) => one.name.localeCompare(other.name));
