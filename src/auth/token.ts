import { hash } from "node:crypto";

/** Lets secret scanners recognise a token. */
const PREFIX = "drg_";
const SECRET_BYTES = 32;
const TOKEN = /^drg_[0-9A-Za-z_-]{43}$/;

/** Whether it has the form of a token of this server, perhaps a damaged one. */
export const isToken = (secret: string): boolean => secret.startsWith(PREFIX);
export const isWellFormed = (secret: string): boolean => TOKEN.test(secret);

/** 256 random bits cannot be guessed, so a slow or salted hash would add nothing. */
export const toSecret = (randomHex: (bytes: number) => string): string =>
  PREFIX + Buffer.from(randomHex(SECRET_BYTES), "hex").toString("base64url");

const ID_BYTES = 6;
export const toTokenId = (randomHex: (bytes: number) => string): string => randomHex(ID_BYTES);

/** Only the hash of a secret is stored and compared: timing tells nothing about the secret. */
export const toHash = (secret: string): string => hash("sha256", secret, "hex");
