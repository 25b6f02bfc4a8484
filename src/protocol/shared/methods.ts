import { Fault } from "../../model/index.ts";
import type { Operation, WireCall } from "../../ports/index.ts";

/** What a call of one method asks for; which agent is meant stands in the path. */
export type Decode = (call: WireCall) => WithoutAgent<Operation>;
type WithoutAgent<T> = T extends Operation ? Omit<T, "agent"> : never;
/** Every method of a dialect. */
export type Methods = Readonly<Record<string, Decode>>;

/** `whose`: the dialect, as its callers know it. */
export function decodeMethod(call: WireCall, methods: Methods, whose: string): Operation {
  const decode = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined;
  if (!decode)
    throw new Fault(
      "method-not-found",
      `There is no method "${call.method.slice(0, 100)}"; ${whose} has ${Object.keys(methods).join(", ")}`,
    );
  return { ...(decode(call) as Operation), agent: call.vars.agent as Operation["agent"] };
}
