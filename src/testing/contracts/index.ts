/**
 * The contracts of the ports, as lists of cases: `for (const { name, run } of storeContract(create)) test(name, run)`, with
 * the `test` of any runner.
 */
export { type AuthMethodUnderTest, authContract } from "./authenticator.ts";
export { type BusUnderTest, busContract } from "./bus.ts";
export type { CaseRunner, ContractCase } from "./contract.ts";
export {
  type ProtocolRequest,
  type ProtocolTask,
  type ProtocolUnderTest,
  protocolContract,
} from "./protocol.ts";
export { type CreatedAgent, type RuntimeHost, type RuntimeUnderTest, runtimeContract } from "./runtime.ts";
export { storeContract } from "./store.ts";
export type { StoreUnderTest } from "./store-harness.ts";
export { type TokenStoreUnderTest, tokenStoreContract } from "./token-store.ts";
