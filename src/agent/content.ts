/** The content that agent authors send and receive: parts, files, artifacts, questions. */
import type { JsonObject } from "../lib/json.ts";
import type { BytesPart, DataPart, TextPart, UrlPart } from "../model/index.ts";

/** A file in a message; `ctx.file(file)` sends it back. */
export type AgentFile =
  | { readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array; readonly url?: never }
  | { readonly name: string; readonly mediaType: string; readonly url: string; readonly bytes?: never };

export type FileContent = {
  readonly name: string;
  /** Default: by the extension of the name. */
  readonly mediaType?: string | undefined;
  readonly artifactId?: string | undefined;
  readonly description?: string | undefined;
  readonly metadata?: JsonObject | undefined;
} & (
  | { /** A string is base64. */ readonly bytes: Uint8Array | string; readonly url?: undefined }
  | { readonly url: string; readonly bytes?: undefined }
);

/** One part; a string is a text part. */
export type PartContent =
  | string
  | TextPart
  | DataPart
  | UrlPart
  | (Omit<BytesPart, "bytes"> & { readonly bytes: Uint8Array | string });
export type Content = PartContent | readonly PartContent[];

/** Questions by id; the author chooses the ids. */
export type Questions = Readonly<Record<string, Content>>;

/** A request for credentials with which the agent acts for its caller in another system. */
export interface AuthRequest {
  /** The name under which the credential is stored; for OAuth 2 the name of a provider in the server's config. */
  readonly name: string;
  /** "oauth2" (default), "bearer", "basic", "apiKey" or a custom scheme. */
  readonly scheme?: string | undefined;
  /** A page where the user authorizes; default: the server's page for the provider. */
  readonly url?: string | undefined;
  /** In addition to the scopes of the provider. */
  readonly scopes?: readonly string[] | undefined;
  /** The reason, shown to the user. */
  readonly description?: string | undefined;
}

export interface TextOptions {
  /** Text with the same name is appended to the same artifact; default: "response". */
  readonly name?: string | undefined;
  readonly artifactId?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** The text is complete. */
  readonly last?: boolean | undefined;
}
export interface DataOptions {
  readonly name?: string | undefined;
  readonly artifactId?: string | undefined;
  readonly description?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}
export interface ArtifactContent {
  readonly artifactId?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly parts: Content;
  readonly metadata?: JsonObject | undefined;
  readonly extensions?: readonly string[] | undefined;
  /** Append to the artifact with this id instead of replacing it. */
  readonly append?: boolean | undefined;
  /** With `append`: the first text continues the last text part of the artifact. */
  readonly join?: boolean | undefined;
  readonly last?: boolean | undefined;
}
