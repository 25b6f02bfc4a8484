import { hash } from "node:crypto";

/** By which secret scanners and people know them. */
const PREFIX = "drg_";
const SECRET_BYTES = 32;
const TOKEN = /^drg_[0-9A-Za-z_-]{43}$/;

/** Whether it is meant to be one of ours. */
export const isToken = (secret: string): boolean => secret.startsWith(PREFIX);
/** Whether it can be one. */
export const isWellFormed = (secret: string): boolean => TOKEN.test(secret);

/** 256 bits of chance: there is nothing to guess, and so nothing that a slow or salted hash would make harder. */
export const toSecret = (chance: (bytes: number) => string): string =>
  PREFIX + Buffer.from(chance(SECRET_BYTES), "hex").toString("base64url");

const ID_BYTES = 6;
/** What a token is called in lists. */
export const toTokenId = (chance: (bytes: number) => string): string => chance(ID_BYTES);

/** What is kept of a secret, and looked for: how long that takes tells nothing about the secret itself. */
export const toHash = (secret: string): string => hash("sha256", secret, "hex");
