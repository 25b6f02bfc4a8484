import type { Json } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import type { PushMethods } from "./push.ts";
import { count, list, type Members, object, record, type Schema, text, told } from "./schema.ts";
import type { Method } from "./vocabulary.ts";

/** In what words the official versions ask and answer. */
export interface Form {
  readonly message: Schema;
  readonly configuration: Schema;
  /** What a send answers with. */
  readonly sent: Schema;
  readonly step: Schema;
  readonly task: Schema;
  readonly page: Schema;
  readonly state: Schema;
  /** What only this form knows beside the filters of a list. */
  readonly filters: Members;
  readonly push: PushMethods;
  readonly card: Schema;
  /** A message as a caller would write it. */
  readonly example: Json;
}

const historyLength = told("At most this many messages of the history, the newest; without it, all", count);

/** How a send is to be answered; `own`: the form's words for waiting and for push. */
export const configurationWith = (own: Members): Schema =>
  object({}, { ...own, historyLength, acceptedOutputModes: list(text) });

export const pageOf = (task: Schema): Schema =>
  object({
    tasks: list(task),
    nextPageToken: told("Empty on the last page", text),
    pageSize: count,
    totalSize: count,
  });

const PAGE_SIZE: Schema = {
  type: "integer",
  minimum: 1,
  maximum: LIMITS.pageSizeMax,
  default: LIMITS.pageSizeDefault,
};
const TASK = { id: told("The task", text) };

/** What all methods of the official versions take and give, by the operation that they ask for. */
export function createMethods(form: Form) {
  const send = {
    needed: { message: form.message },
    optional: { configuration: form.configuration, metadata: record },
    sends: true,
    example: { message: form.example },
  } as const;
  return {
    send: {
      ...send,
      summary: "Send a message, and get the task or the message that the agent answers with",
      answer: { kind: "one", schema: form.sent },
    },
    stream: {
      ...send,
      summary: "Send a message, and read what becomes of it as it happens",
      answer: { kind: "many", schema: form.step },
    },
    get: {
      summary: "Get a task as it stands",
      needed: TASK,
      optional: { historyLength },
      answer: { kind: "one", schema: form.task },
    },
    list: {
      summary: "List tasks, the newest first",
      needed: {},
      optional: {
        contextId: text,
        status: form.state,
        pageSize: PAGE_SIZE,
        pageToken: text,
        historyLength,
        ...form.filters,
      },
      answer: { kind: "one", schema: form.page },
    },
    cancel: {
      summary: "Cancel a task",
      needed: TASK,
      optional: { metadata: record },
      answer: { kind: "one", schema: form.task },
    },
    subscribe: {
      summary: "Read what becomes of a task, from now on or after the event that Last-Event-ID names",
      needed: TASK,
      optional: {},
      answer: { kind: "many", schema: form.step },
    },
    pushSet: { summary: "Have updates of a task delivered to a webhook", ...form.push.pushSet },
    pushGet: { summary: "Get a push config; what is secret in it is not shown", ...form.push.pushGet },
    pushList: { summary: "List the push configs of a task", ...form.push.pushList },
    pushDelete: { summary: "Delete a push config", ...form.push.pushDelete },
    extendedCard: {
      summary: "Get the extended card, if the agent has one and the caller is known",
      needed: {},
      optional: {},
      answer: { kind: "one", schema: form.card },
    },
  } as const satisfies Readonly<Record<string, Method>>;
}
export type Methods = ReturnType<typeof createMethods>;

/** By the names of v1.0, which its paths and those of v0.3 go by. */
export const byPathNames = (methods: Methods): Readonly<Record<string, Method>> => ({
  SendMessage: methods.send,
  SendStreamingMessage: methods.stream,
  GetTask: methods.get,
  ListTasks: methods.list,
  CancelTask: methods.cancel,
  SubscribeToTask: methods.subscribe,
  CreateTaskPushNotificationConfig: methods.pushSet,
  GetTaskPushNotificationConfig: methods.pushGet,
  ListTaskPushNotificationConfigs: methods.pushList,
  DeleteTaskPushNotificationConfig: methods.pushDelete,
  GetExtendedAgentCard: methods.extendedCard,
});
