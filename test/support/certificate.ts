/** Certificates created at run time: no private key is in the repository. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const time = (text: string): Buffer => der(0x17, Buffer.from(text));

/** A certificate authority. */
export interface Authority extends Certificate {
  /** Signs a certificate with this name, valid for localhost and 127.0.0.1. */
  sign(commonName: string): Certificate;
}

/** X.509 (RFC 5280) for localhost and 127.0.0.1, self-signed. */
export const createCertificate = (): Certificate => {
  const keys = createKeys();
  return write(keys, "localhost", { name: "localhost", keys }, NAMES);
};

/** An authority that is only trusted where it is configured. */
export function createAuthority(name: string): Authority {
  const keys = createKeys();
  // RFC 5280 §4.2.1.9: it may sign certificates.
  const mayOthers = sequence(oid("551d13"), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
  return {
    ...write(keys, name, { name, keys }, mayOthers),
    sign: commonName => write(createKeys(), commonName, { name, keys }, NAMES),
  };
}

type Keys = ReturnType<typeof createKeys>;
const createKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

const NAMES = sequence(
  oid("551d11"),
  der(0x04, sequence(der(0x82, Buffer.from("localhost")), der(0x87, Buffer.from([127, 0, 0, 1])))),
);
const nameOf = (text: string): Buffer =>
  sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(text)))));

function write(
  { privateKey, publicKey }: Keys,
  subject: string,
  issuer: { readonly name: string; readonly keys: Keys },
  extension: Buffer,
): Certificate {
  const algorithm = sequence(oid("2a8648ce3d040302"));
  const facts = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, ...randomBytes(8)])),
    algorithm,
    nameOf(issuer.name),
    sequence(time("200101000000Z"), time("491231235959Z")),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extension)),
  );
  const signature = sign("sha256", facts, issuer.keys.privateKey);
  const cert = sequence(facts, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = cert.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

/** The same as files. */
export function writeCertificate(folder: string, name = "test") {
  const { cert, key } = createCertificate();
  const files = { tlsCert: join(folder, `${name}.crt`), tlsKey: join(folder, `${name}.key`) };
  writeFileSync(files.tlsCert, cert);
  writeFileSync(files.tlsKey, key);
  return { ...files, cert };
}
