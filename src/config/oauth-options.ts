/** Options on whom agents can ask their callers to be authorized with. */
import { z } from "zod";
import { isCredentialName, type OAuthProviders } from "../model/index.ts";
import { asJson, type Option } from "./option.ts";

export interface OAuthOptions {
  readonly oauth: OAuthProviders | undefined;
}

const url = z.url({ protocol: /^https?$/ });
const text = z.string().min(1);
const PROVIDER = z.strictObject({
  authorizationUrl: url,
  tokenUrl: url,
  clientId: text,
  clientSecret: text.optional(),
  clientAuthentication: z.enum(["post", "basic"]).optional(),
  scopes: z.array(text).optional(),
  parameters: z.record(text, z.string()).optional(),
});

export const OAUTH_OPTIONS: { readonly [K in keyof OAuthOptions]: Option<OAuthOptions[K]> } = {
  oauth: {
    about: "The OAuth 2 providers with which callers can authorize agents, by name",
    expected: "an object such as { github: { authorizationUrl, tokenUrl, clientId, clientSecret, scopes } }",
    schema: z.record(z.string().refine(isCredentialName), PROVIDER),
    fallback: undefined,
    secret: true,
    fromText: asJson,
  },
};
