import type { JsonObject } from "../lib/json.ts";

/** An agent's card in neutral form; where it can be reached is added by the dialect that writes it. */
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
  /** Callers may have updates delivered to a webhook. */
  readonly push: boolean;
  /** v0.3 and older cards tell whether tasks show how they came to be; Orloj shows their history only then. */
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

/** How callers say who they are, in neutral words; each dialect has its own shape for it. */
export type SecurityScheme = { readonly name: string; readonly description?: string } & (
  | { readonly kind: "bearer"; readonly format?: string }
  | { readonly kind: "api-key"; readonly header: string }
  | { readonly kind: "oidc"; readonly url: string }
  | { readonly kind: "mutual-tls" }
);
