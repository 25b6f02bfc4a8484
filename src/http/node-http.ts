/**
 * Node's HTTP server. `import … from "node:http"` evaluates every export of the module, and one of them loads Node's WebSocket client:
 * 45 ms and 15 MiB at each start (docs/decisions/0036).
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");
