/** What an operator allows for the webhooks of runs, beside the rules for all outgoing requests. */
export interface WebhookRules {
  /** Sent with each delivery. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names of hosts, `*.example.com` for those below; undefined: any. */
  readonly allowedDomains: readonly string[] | undefined;
  readonly allowedPorts: readonly number[] | undefined;
  readonly requiresHttps: boolean;
  /** Paths of this server itself are refused. */
  readonly isLoopbackOff: boolean;
  readonly urlCharsMax: number;
}
