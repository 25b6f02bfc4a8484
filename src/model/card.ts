import type { JsonObject } from "../lib/json.ts";

/** An agent card, independent of any dialect; the dialect that encodes it adds the URLs. */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  readonly skills: readonly AgentSkill[];
  readonly extensions: readonly AgentExtension[];
  readonly streaming: boolean;
  /** The agent supports push notifications. */
  readonly push: boolean;
  /** Declared in cards of v0.3 and older; Orloj includes the history of tasks only if it is true. */
  readonly stateTransitionHistory: boolean;
}

export interface AgentSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
}

export interface AgentExtension {
  readonly uri: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly params?: JsonObject;
}

/** A security scheme, independent of any dialect. */
export type SecurityScheme = { readonly name: string; readonly description?: string } & (
  | { readonly kind: "bearer"; readonly format?: string }
  | { readonly kind: "api-key"; readonly header: string }
  | { readonly kind: "oidc"; readonly url: string }
  | { readonly kind: "mutual-tls" }
);
