/** Options on what the server seals and signs with. */
import { z } from "zod";
import { asText, asTruth, asWords, file, type Option } from "./option.ts";

export interface KeyOptions {
  readonly signCards: boolean;
  /** undefined: keys.json in the data folder. */
  readonly keyFile: string | undefined;
  /** The keys themselves, as a key file has them. */
  readonly keys: string | undefined;
  readonly keysCommand: readonly string[] | undefined;
}

export const KEY_OPTIONS: { readonly [K in keyof KeyOptions]: Option<KeyOptions[K]> } = {
  signCards: {
    about: "Sign the cards of v1.0 and v0.3",
    expected: "true or false",
    schema: z.boolean(),
    fallback: true,
    fromText: asTruth,
  },
  keyFile: file("Where the keys of the server are; else keys.json in the data folder"),
  keys: {
    about: "The keys of the server themselves, instead of a file",
    expected: "what a key file holds",
    schema: z.string().min(1),
    fallback: undefined,
    secret: true,
    fromText: asText,
  },
  keysCommand: {
    about: "A program that prints the keys, instead of a file",
    expected: "a program and its words, as a list or with spaces between them",
    schema: z.array(z.string().min(1)).min(1),
    fallback: undefined,
    fromText: asWords,
  },
};
