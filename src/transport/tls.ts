import { readFileSync } from "node:fs";
import type { RequestListener, Server, ServerOptions } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext, createServer as createTlsServer } from "node:tls";
import { LIMITS } from "../model/index.ts";

/** Makes servers with a certificate; a server in clear text need not even load what it takes. */
export interface Tls {
  createHttp(options: ServerOptions, handler: RequestListener): Server;
  createHttp2(take: (connection: Duplex) => void): NetServer;
}

/** The server cannot start with this certificate; the message says why. */
export class TlsRefusal extends Error {
  override readonly name = "TlsRefusal";
}

/** Reads and checks certificate and key. */
export function readTls(files: { tlsCert: string | undefined; tlsKey: string | undefined }): Tls {
  const { tlsCert, tlsKey } = files;
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
  const secure = { cert, key, handshakeTimeout: LIMITS.headReadMs };
  return {
    createHttp: (options, handler) => createHttpsServer({ ...options, ...secure }, handler),
    createHttp2: take => createTlsServer({ ...secure, ALPNProtocols: ["h2"] }, take),
  };
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
