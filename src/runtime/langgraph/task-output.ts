/** Output of a task (a running node) of a graph. */
import { type DataOutput, mergeOutput, type StatusOutput, type TextOutput } from "../shared/output-writer.ts";

export type GraphOutput = TextOutput | StatusOutput | DataOutput;

/** `path`: the ids of the enclosing tasks, the innermost last. */
export interface TaskOutput {
  readonly path: readonly string[];
  readonly output: GraphOutput;
}

export function mergeTaskOutput(first: TaskOutput, second: TaskOutput): TaskOutput | undefined {
  const output = mergeOutput(first.output, second.output);
  return output && { ...first, output: output as GraphOutput };
}
