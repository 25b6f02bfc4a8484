import { toGrpcAddress } from "../http/base-url.ts";
import { LIMITS } from "../model/index.ts";
import type { CardResult, Dialect } from "../ports/index.ts";
import { createCardSigning } from "../signature/sign.ts";
import { createCatalogSigning } from "../signature/sign-catalog.ts";
import { listDialects } from "./server-ports.ts";
import type { Services, WiringParts } from "./services.ts";

/** The dialects of the options; with `signCards`, their cards and the catalog of these cards are signed. */
export function toServedDialects(
  { settings, addresses, hasGrpc, ports }: WiringParts,
  { keys, clock }: Services,
  isOwnBase: (base: string) => boolean,
): readonly Dialect[] {
  const grpcAt = (base: string): string | undefined => toGrpcAddress(base, addresses.grpcPort, settings);
  const dialects = listDialects({ ...settings, ...(hasGrpc && { grpcAt }) }, ports);
  if (!settings.signCards) return dialects;
  const signing = { signer: keys.signer, entriesMax: LIMITS.signedCardsMax, isOwnBase };
  const signed = dialects.map(createCardSigning(signing));
  const v1 = signed.find(({ name }) => name === "v1") as Dialect;
  const form = settings.cardPolicy;
  const toCardText = (card: CardResult): string =>
    JSON.stringify(v1.encode({ op: "card", agent: card.agent.name, base: card.base, form }, card));
  return signed.map(createCatalogSigning({ ...signing, toCardText, wallTime: clock.wallTime }));
}
