/** The error numbers that this client acts on; the same in v1 and v0.3. */
export const RPC = {
  taskNotFound: -32001,
  unsupportedOperation: -32004,
  methodNotFound: -32601,
} as const;
