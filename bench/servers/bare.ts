import { createServer } from "node:http";

/**
 * Node's HTTP server and nothing else: parses a call and answers with its text in a finished task that exists nowhere. What
 * every server on `node:http` costs at least.
 */
interface Call {
  id: string;
  params: { message: { messageId: string; parts: { text: string }[] } };
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const text = request.method === "POST" ? toAnswer(JSON.parse(Buffer.concat(chunks).toString())) : "{}";
    response.writeHead(200, {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(text),
    });
    response.end(text);
  });
});

/** About as many bytes as the answers of the others. */
function toAnswer({ id, params: { message } }: Call): string {
  const [taskId, contextId] = [
    "00000000-0000-7000-8000-000000000001",
    "00000000-0000-7000-8000-000000000002",
  ];
  const task = {
    id: taskId,
    contextId,
    status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-01T00:00:00.000Z" },
    artifacts: [{ artifactId: "00000000-0000-7000-8000-000000000003", parts: message.parts }],
    history: [{ ...message, taskId, contextId, role: "ROLE_USER" }],
  };
  return JSON.stringify({ jsonrpc: "2.0", id, result: { task } });
}

server.listen(Number(process.argv[2]), "127.0.0.1");
