/** 128 random bits. Not a UUID: pages without TLS have no `crypto.randomUUID`. */
export const newId = (): string => crypto.getRandomValues(new BigUint64Array(2)).join("-");
