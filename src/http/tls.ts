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
import { StartupError } from "../lib/startup-error.ts";
import { LIMITS } from "../model/index.ts";
import {
  type GrpcListener,
  Http2Response,
  http2Options,
  isGrpc,
  refuseStream,
  withHostHeader,
} from "./http2.ts";
import { createHttp2Sessions } from "./http2-sessions.ts";
import type { HttpRequest, HttpResponse } from "./request.ts";
import { createUnsentBytes, type UnsentBytes, type UnsentBytesParts } from "./unsent-bytes.ts";

/** Creates servers with a certificate. Loaded on demand: a server in clear text does not need this module. */
export interface Tls {
  /** HTTP/1.1 and HTTP/2, by ALPN. */
  createHttp(options: ServerOptions, serve: Serve, parts: Http2Parts): SecureServer;
  /** For gRPC alone. */
  createHttp2(onConnection: (connection: Duplex) => void): NetServer;
}

export interface Http2Parts extends UnsentBytesParts {
  readonly streamsMax: number;
  /** undefined: gRPC calls are served as HTTP requests. */
  readonly grpc: Pick<GrpcListener, "takeStream"> | undefined;
}

export type Serve = (request: HttpRequest, response: HttpResponse, url: string) => void;

export interface SecureServer extends NetServer {
  /** Also sends GOAWAY to HTTP/2 clients; their calls under way go on. */
  closeIdleConnections(): void;
}

export interface TlsFiles {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** The authority of client certificates; undefined: none are requested. */
  readonly tlsClientCa: string | undefined;
}

/** Reads and checks certificate and key. */
export function readTls({ tlsCert, tlsKey, tlsClientCa }: TlsFiles): Tls {
  if (tlsKey === undefined) throw new StartupError("A certificate needs its key: give --tls-key as well.");
  if (tlsCert === undefined) throw new StartupError("A key needs its certificate: give --tls-cert as well.");
  const cert = readPem(tlsCert, "--tls-cert", "CERTIFICATE");
  const key = readPem(tlsKey, "--tls-key", "PRIVATE KEY");
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = (error as Error).message.replace(/^error:[^:]*:[^:]*:[^:]*:/, "");
    throw new StartupError(`${tlsCert} and ${tlsKey} are not a certificate and its key (${reason}).`);
  }
  // Clients without a trusted certificate may connect: there are other ways to authenticate, and public documents.
  const client =
    tlsClientCa === undefined
      ? {}
      : {
          ca: readPem(tlsClientCa, "--tls-client-ca", "CERTIFICATE"),
          requestCert: true,
          rejectUnauthorized: false,
        };
  const secure = { cert, key, handshakeTimeout: LIMITS.headReadMs, ...client };
  return {
    createHttp: (options, serve, parts) => createHttp1And2({ ...options, ...secure }, serve, parts),
    createHttp2: onConnection => createTlsServer({ ...secure, ALPNProtocols: ["h2"] }, onConnection),
  };
}

function readPem(file: string, flag: string, label: string): Buffer {
  try {
    const bytes = readFileSync(file);
    if (bytes.includes(label)) return bytes;
  } catch (error) {
    throw new StartupError(`${flag}: ${file} cannot be read: ${(error as Error).message}`);
  }
  throw new StartupError(`${flag}: ${file} has no "${label}" in PEM form.`);
}

function createHttp1And2(
  options: ServerOptions & { cert: Buffer; key: Buffer; ca?: Buffer },
  serve: Serve,
  parts: Http2Parts,
): SecureServer {
  const sessions = createHttp2Sessions(parts.heartbeatMs);
  const unsent = createUnsentBytes(parts);
  const onRequest = (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): void => {
    const url = request.url ?? "/";
    if ("stream" in request)
      serve(
        withHostHeader(request),
        new Http2Response((response as Http2ServerResponse).stream, unsent),
        url,
      );
    else serve(request, response as ServerResponse, url);
  };
  const server = createSecureServer(
    { ...options, ...http2Options(parts.streamsMax), allowHTTP1: true },
    onRequest as never,
  );
  server.on("session", sessions.add);
  server.on("close", () => {
    sessions.close();
    unsent.close();
  });
  interceptStreams(server, unsent, parts.grpc);
  // Node 22 does not have this method on servers of HTTP/2.
  const { closeIdleConnections: closeHttp1 } = server as Partial<Pick<SecureServer, "closeIdleConnections">>;
  const closeIdleConnections = (): void => {
    closeHttp1?.call(server);
    sessions.refuseNew();
  };
  return Object.assign(server, { closeIdleConnections }) as unknown as SecureServer;
}

type OnStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  raw: string[],
) => void;

/** Refuses requests and takes gRPC calls before Node creates a request and a response for them. */
function interceptStreams(server: Http2SecureServer, unsent: UnsentBytes, grpc: Http2Parts["grpc"]): void {
  const [onHttpStream] = server.listeners("stream") as OnStream[];
  if (!onHttpStream) throw new Error("Node's HTTP/2 server has no listener for streams");
  server.removeAllListeners("stream");
  const onStream: OnStream = (stream, headers, flags, raw) => {
    if (grpc && isGrpc(headers)) grpc.takeStream(stream, headers, raw);
    else if (!refuseStream(stream, raw, unsent)) onHttpStream.call(server, stream, headers, flags, raw);
  };
  server.on("stream", onStream as never);
}
