import { flag, object, record, ref, text, told } from "./schema.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Dialects of which the envelope is told, and what their own documents explain better is not. */

export const PLAIN = { schemas: {}, rest: {}, rpc: {}, documents: {}, refusal: record };

const REQUEST = { id: told("The request, which is a task", text) };

export const OTHERS: Readonly<Record<string, Vocabulary>> = {
  v02: { ...PLAIN, title: "A2A 0.2", version: "0.2" },
  v01: { ...PLAIN, title: "A2A 0.1", version: "0.1" },
  langgraph: { ...PLAIN, title: "LangGraph Agent Server" },
  orloj: { ...PLAIN, title: "Orloj", unnamed: "the agent that the metadata names" },
  simple: { ...PLAIN, title: "simple_a2a" },
  arbiter: {
    ...PLAIN,
    title: "Arbiter",
    schemas: {
      ArbiterCanceled: object({ request_id: text, cancelled: flag }, { reason: text }),
      ArbiterError: object({ error: text }),
    },
    rest: {
      cancel: {
        summary: "End a request",
        needed: REQUEST,
        optional: {},
        answer: { kind: "one", schema: ref("ArbiterCanceled") },
      },
      events: {
        summary: "Read what happened to a request, then what happens",
        needed: REQUEST,
        optional: { since_seq: told("Only what came after this event", { type: "integer", minimum: 0 }) },
        answer: { kind: "many", schema: record },
      },
    },
    refusal: { anyOf: [ref("ArbiterError"), ref("ArbiterCanceled")] },
  },
};
