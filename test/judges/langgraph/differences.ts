/** The differences that are known. docs/dialects/langgraph.md explains each by its number. */

export interface KnownDifference {
  readonly id: string;
  /** Of the call; undefined: any. */
  readonly calls?: RegExp;
  /** Of a line of `listDifferences`. */
  readonly line: RegExp;
}

/** It depends on how fast a run begins. */
export const OCCASIONAL = "D6";

const anywhere = (id: string, line: RegExp): KnownDifference => ({ id, line });
const inCalls = (id: string, calls: RegExp, line: RegExp): KnownDifference => ({ id, calls, line });

export const KNOWN: readonly KnownDifference[] = [
  anywhere("D1", /^body: ".*" \| \{"detail":".*/),
  inCalls("D1", /^run (?:without|with a wrong)/, /^(?:status: 400 \| 422|body\.(?:success|error|detail): )/),
  inCalls("D1", /^state at a checkpoint, by POST$/, /^(?:status: 400 \| 200|body\.\w+: )/),
  inCalls("D1", /^run rejected$/, /^status: 422 \| 409$/),
  inCalls("D1", /^run on a missing thread$/, /^status: 422 \| 404$/),
  anywhere("D2", /^body\.(?:0\.)?(?:state_updated_at: - |values: - |interrupts: - )/),
  anywhere("D2", /^body\.(?:0\.)?config\.configurable: \{"user-agent"/),
  inCalls("D2", /^thread /, /^body\.interrupts\.<uuid>: \[\] \| -$/),
  inCalls("D3", /state|history/, /^body\.(?:\d\.)?interrupts: - /),
  inCalls("D3", /^state of a new thread$/, /^body\.(?:checkpoint: null|metadata: -) /),
  inCalls("D3", /^state update$/, /^body\.[\w.]+: - /),
  anywhere("D4", /\.(?:run_attempt|langgraph_version|langgraph_plan|langgraph_host): .* \| -$/),
  anywhere("D4", /\.a2a_task_id: - /),
  inCalls("D4", /state|history/, /^body\.(?:\d\.)?metadata\.(?:user-agent|graph_id): .* \| -$/),
  inCalls("D4", /^stream of the old mode$/, /\.metadata\.tags: - \| \[\]$/),
  inCalls("D4", /^batch$/, /metadata\.(?:graph_id|assistant_id): - /),
  anywhere("D5", /multitask_strategy: "reject" \| "enqueue"$/),
  inCalls("D6", /^(?:run create|batch)$/, /status: "pending" \| "running"$/),
  inCalls("D7", /^info$/, /^body\./),
  inCalls("D7", /^assistant/, /description: null \| "The agent \w+"$/),
  inCalls("D8", /^(?:schemas|subgraphs)/, /^body\./),
  inCalls(
    "D9",
    /^stream, all modes$/,
    /^body\.\d+\.data\.(?:config|parent_config|checkpoint|parent_checkpoint|tasks): - /,
  ),
  inCalls("D10", /fails$/, /\.(?:error|message): .* \| ".*"$/),
  inCalls("D11", /^wait with two interrupts$/, /^body\./),
  inCalls("D12", /^protocol: /, /^body\.replies\.\d\.(?:meta\.applied_through_seq|result\.run_id): /),
  inCalls("D12", /^protocol: /, /^body\.events\.messages\.\d+\.data\.run_id: /),
  // Messages of a state.
  inCalls(
    "D13",
    /^protocol: /,
    /\.messages\.\d\.(?:content|content_blocks|id|metadata|response_metadata|additional_kwargs)\b[\w.]*: /,
  ),
  inCalls(
    "D13",
    /^protocol: /,
    /\.messages\.\d\.(?:tool_calls|invalid_tool_calls|tool_call_chunks)\b[\w.]*: /,
  ),
  inCalls("D13", /^protocol: /, /^body\.events\.messages\.\d+\.data\.(?:role|reason|responseMetadata): /),
  inCalls("D13", /^protocol: a tool$/, /^body\.events\.(?:messages\.\d|tools\.1\.data\.output\.id)\b/),
];
