import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Stream,
} from "node:http2";
import type { Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext, createServer as createTlsServer } from "node:tls";
import type { Grpc } from "../binding/grpc/index.ts";
import { LIMITS } from "../model/index.ts";
import { Http2Outgoing, http2Options, isGrpc, refuseStream, toIncoming } from "./http2.ts";
import { createSessions } from "./http2-sessions.ts";
import type { HttpRequest, HttpResponse } from "./request.ts";
import { createUnsent, type Unsent, type UnsentParts } from "./unsent-bytes.ts";

/** Makes servers with a certificate; a server in clear text need not even load what it takes. */
export interface Tls {
  /** HTTP/1.1 and HTTP/2, whichever the caller likes better. */
  createHttp(options: ServerOptions, serve: Serve, parts: Http2Parts): SecureServer;
  /** For gRPC alone. */
  createHttp2(take: (connection: Duplex) => void): NetServer;
}

export interface Http2Parts extends UnsentParts {
  readonly streamsMax: number;
  /** Gets the calls of gRPC. undefined: they are requests like others. */
  readonly grpc: Pick<Grpc, "hear"> | undefined;
}

export type Serve = (request: HttpRequest, response: HttpResponse, url: string) => void;

export interface SecureServer extends NetServer {
  /** Also tells callers over HTTP/2 that nothing new is taken; what is under way goes on. */
  closeIdleConnections(): void;
}

/** The server cannot start with this certificate; the message says why. */
export class TlsRefusal extends Error {
  override readonly name = "TlsRefusal";
}

export interface TlsFiles {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** The authority of callers' certificates; undefined: callers are not asked for one. */
  readonly tlsClientCa: string | undefined;
}

/** Reads and checks certificate and key. */
export function readTls(files: TlsFiles): Tls {
  const { tlsCert, tlsKey, tlsClientCa } = files;
  if (tlsKey === undefined) throw new TlsRefusal("A certificate needs its key: give --tls-key as well.");
  if (tlsCert === undefined) throw new TlsRefusal("A key needs its certificate: give --tls-cert as well.");
  const cert = read(tlsCert, "--tls-cert", "CERTIFICATE");
  const key = read(tlsKey, "--tls-key", "PRIVATE KEY");
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const why = (error as Error).message.replace(/^error:[^:]*:[^:]*:[^:]*:/, "");
    throw new TlsRefusal(`${tlsCert} and ${tlsKey} are no certificate and its key (${why}).`);
  }
  const secure = { cert, key, handshakeTimeout: LIMITS.headReadMs, ...asking(tlsClientCa) };
  return {
    createHttp: (options, serve, parts) => createBoth({ ...options, ...secure }, serve, parts),
    createHttp2: take => createTlsServer({ ...secure, ALPNProtocols: ["h2"] }, take),
  };
}

/**
 * Whoever has no certificate, or none that is trusted, may connect all the same: there are other ways to show who one is,
 * and documents that are for everybody.
 */
const asking = (file: string | undefined) =>
  file === undefined
    ? {}
    : { ca: read(file, "--tls-client-ca", "CERTIFICATE"), requestCert: true, rejectUnauthorized: false };

function createBoth(
  options: ServerOptions & { cert: Buffer; key: Buffer; ca?: Buffer },
  serve: Serve,
  parts: Http2Parts,
): SecureServer {
  const sessions = createSessions(parts.heartbeatMs);
  const unsent = createUnsent(parts);
  const handler = (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): void => {
    const url = request.url ?? "/";
    if ("stream" in request)
      serve(toIncoming(request), new Http2Outgoing((response as Http2ServerResponse).stream, unsent), url);
    else serve(request, response as ServerResponse, url);
  };
  const server = createSecureServer(
    { ...options, ...http2Options(parts.streamsMax), allowHTTP1: true },
    handler as never,
  );
  server.on("session", sessions.add);
  server.on("close", () => {
    sessions.close();
    unsent.close();
  });
  divert(server, unsent, parts.grpc);
  // Node 22 does not have it on such servers.
  const { closeIdleConnections: closeHttp1 } = server as Partial<Pick<SecureServer, "closeIdleConnections">>;
  const closeIdleConnections = (): void => {
    closeHttp1?.call(server);
    sessions.refuseNew();
  };
  return Object.assign(server, { closeIdleConnections }) as unknown as SecureServer;
}

type Hear = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: string[]) => void;

/** Requests that are too much are refused, and calls of gRPC taken, before anything is made of them that others need. */
function divert(server: Http2SecureServer, unsent: Unsent, grpc: Pick<Grpc, "hear"> | undefined): void {
  const [hearRequest] = server.listeners("stream") as Hear[];
  if (!hearRequest) throw new Error("a server of HTTP/2 that takes no requests");
  server.removeAllListeners("stream");
  const hear: Hear = (stream, headers, flags, raw) => {
    if (grpc && isGrpc(headers)) grpc.hear(stream, headers, raw);
    else if (!refuseStream(stream, raw, unsent)) hearRequest.call(server, stream, headers, flags, raw);
  };
  server.on("stream", hear as never);
}

function read(file: string, flag: string, label: string): Buffer {
  try {
    const bytes = readFileSync(file);
    if (bytes.includes(label)) return bytes;
  } catch (error) {
    throw new TlsRefusal(`${file}, of ${flag}, cannot be read: ${(error as Error).message}`);
  }
  throw new TlsRefusal(`${file}, of ${flag}, has no "${label}" in PEM form.`);
}
