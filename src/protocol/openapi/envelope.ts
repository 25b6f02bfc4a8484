import { either, type Members, object, only, record, type Schema, text } from "./schema.ts";
import type { Vocabulary } from "./vocabulary.ts";

const ID: Schema = { type: ["string", "number", "null"] };
const JSON_RPC = { jsonrpc: only("2.0"), id: ID };
const ERROR = object({ code: { type: "integer" }, message: text }, { data: {} });

const replyWith = (result: Schema): Schema => ({
  oneOf: [object({ ...JSON_RPC, result }), object({ ...JSON_RPC, error: ERROR })],
});

/** The envelope by itself. */
export const ENVELOPES: Members = {
  JsonRpcCall: object({ jsonrpc: JSON_RPC.jsonrpc, method: text }, { id: ID, params: record }),
  JsonRpcReply: replyWith({}),
};

/** The envelopes of a dialect whose methods are told: one for each of them. */
export function envelopesOf(words: Vocabulary, prefix: string): Members {
  const methods = Object.entries(words.rpc);
  if (methods.length === 0) return {};
  const calls = methods.map(([name, { summary, needed, optional }]): Schema => {
    const params = object(needed, optional);
    const isNeeded = Object.keys(needed).length > 0;
    const envelope = { jsonrpc: JSON_RPC.jsonrpc, method: only(name), ...(isNeeded && { params }) };
    return {
      title: name,
      description: summary,
      ...object(envelope, { id: ID, ...(!isNeeded && { params }) }),
    };
  });
  const answers = methods.map(([, { answer }]) => answer.schema);
  return { [`${prefix}Call`]: { oneOf: calls }, [`${prefix}Reply`]: replyWith(either(answers)) };
}
