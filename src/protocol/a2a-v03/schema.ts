import { ROLES } from "../a2a-v1/names.ts";
import { CONSTRAINTS, SUMMARIES, V1_SCHEMA } from "../a2a-v1/schema.ts";
import type { ApiDescription, ApiForm } from "../openapi/description.ts";
import type { ProtobufSchema, ProtocolSchema } from "../protobuf/schema.ts";
import { METHOD_NAMES, type MethodName, PROTO_STATES } from "./names.ts";

/**
 * A2A 0.3 has two forms. JSON-RPC has the one of its JSON schema, where objects have a `kind` and states are spelled as
 * in the model. gRPC has the one of its definition (`a2a.proto`); HTTP+JSON has it too, but accepts sends in both.
 */

/** `Operation.form` of requests whose responses are in the form of the definition. */
export const PROTO_FORM = "proto";

const V1 = V1_SCHEMA.messages;

/** Messages that v1.0 left as they were. */
const SHARED = {
  SendMessageResponse: V1.SendMessageResponse,
  StreamResponse: V1.StreamResponse,
  Task: V1.Task,
  TaskStatus: V1.TaskStatus,
  TaskArtifactUpdateEvent: V1.TaskArtifactUpdateEvent,
  AgentProvider: V1.AgentProvider,
  AgentExtension: V1.AgentExtension,
  AgentCardSignature: V1.AgentCardSignature,
  StringList: V1.StringList,
  SecurityScheme: V1.SecurityScheme,
  APIKeySecurityScheme: V1.APIKeySecurityScheme,
  HTTPAuthSecurityScheme: V1.HTTPAuthSecurityScheme,
  OAuth2SecurityScheme: V1.OAuth2SecurityScheme,
  OpenIdConnectSecurityScheme: V1.OpenIdConnectSecurityScheme,
  MutualTlsSecurityScheme: V1.MutualTlsSecurityScheme,
  ClientCredentialsOAuthFlow: V1.ClientCredentialsOAuthFlow,
  ImplicitOAuthFlow: V1.ImplicitOAuthFlow,
  PasswordOAuthFlow: V1.PasswordOAuthFlow,
};

/** The definition of v0.3. The numbers are those of the official SDKs, which have more fields than the published one. */
export const V03_SCHEMA = {
  package: "a2a.v1",
  service: "A2AService",
  rpcs: {
    SendMessage: "SendMessageRequest: SendMessageResponse",
    SendStreamingMessage: "SendMessageRequest: stream StreamResponse",
    GetTask: "GetTaskRequest: Task",
    CancelTask: "CancelTaskRequest: Task",
    TaskSubscription: "TaskSubscriptionRequest: stream StreamResponse",
    CreateTaskPushNotificationConfig: "CreateTaskPushNotificationConfigRequest: TaskPushNotificationConfig",
    GetTaskPushNotificationConfig: "GetTaskPushNotificationConfigRequest: TaskPushNotificationConfig",
    ListTaskPushNotificationConfig:
      "ListTaskPushNotificationConfigRequest: ListTaskPushNotificationConfigResponse",
    DeleteTaskPushNotificationConfig: "DeleteTaskPushNotificationConfigRequest: Empty",
    GetAgentCard: "GetAgentCardRequest: AgentCard",
  },
  enums: {
    Role: V1_SCHEMA.enums.Role,
    TaskState: [V1_SCHEMA.enums.TaskState[0], ...Object.values(PROTO_STATES)],
  },
  stringEnums: V1_SCHEMA.stringEnums,
  messages: {
    ...SHARED,
    SendMessageRequest: {
      message: "Message! 1",
      configuration: "SendMessageConfiguration 2",
      metadata: "Struct 3",
    },
    SendMessageConfiguration: {
      acceptedOutputModes: "string[] 1: Media types",
      pushNotification: "PushNotificationConfig 2",
      historyLength: "count 3: At most this many messages of the history, the newest; 0: all",
      blocking: "bool 4: Respond when the task has settled",
    },
    Message: {
      messageId: "string! 1",
      contextId: "string 2: The conversation; absent: a new one begins",
      taskId: "string 3: The task that this message continues",
      role: "Role! 4",
      content: "Part[]! 5",
      metadata: "Struct 6",
      extensions: "string[] 7",
    },
    Part: { text: "string| 1", file: "FilePart| 2", data: "DataPart| 3", metadata: "Struct 4" },
    FilePart: {
      fileWithUri: "url| 1",
      fileWithBytes: "bytes| 2",
      mimeType: "string 3",
      name: "string 4",
    },
    DataPart: { data: "Struct! 1" },
    Artifact: {
      artifactId: "string! 1",
      name: "string 3",
      description: "string 4",
      parts: "Part[]! 5",
      metadata: "Struct 6",
      extensions: "string[] 7",
    },
    TaskStatusUpdateEvent: {
      taskId: "string! 1",
      contextId: "string! 2",
      status: "TaskStatus! 3",
      final: "bool+ 4: The stream ends after this event",
      metadata: "Struct 5",
    },
    GetTaskRequest: { name: "string 1", historyLength: "count 2" },
    CancelTaskRequest: { name: "string 1" },
    TaskSubscriptionRequest: { name: "string 1" },
    PushNotificationConfig: {
      id: "string 1: The id of the config; absent: it replaces the config without an id",
      url: "url! 2: The webhook",
      token: "string 3: Sent with each notification, as X-A2A-Notification-Token",
      authentication: "AuthenticationInfo 4",
      events: V1.TaskPushNotificationConfig.events,
      secret: V1.TaskPushNotificationConfig.secret,
    },
    AuthenticationInfo: { schemes: "string[]! 1", credentials: "string 2" },
    TaskPushNotificationConfig: {
      name: "string 1: tasks/ID/pushNotificationConfigs/ID",
      pushNotificationConfig: "PushNotificationConfig! 2",
    },
    CreateTaskPushNotificationConfigRequest: {
      parent: "string 1",
      configId: "string 2",
      config: "TaskPushNotificationConfig 3",
    },
    GetTaskPushNotificationConfigRequest: { name: "string 1" },
    DeleteTaskPushNotificationConfigRequest: { name: "string 1" },
    ListTaskPushNotificationConfigRequest: { parent: "string 1", pageSize: "count 2", pageToken: "string 3" },
    ListTaskPushNotificationConfigResponse: {
      configs: "TaskPushNotificationConfig[]+ 1",
      nextPageToken: "string+ 2: Empty on the last page",
    },
    GetAgentCardRequest: {},
    AgentCard: {
      name: "string! 1",
      description: "string! 2",
      url: "url! 3",
      provider: "AgentProvider 4",
      version: "string! 5: The version of the agent",
      documentationUrl: "url 6",
      capabilities: "AgentCapabilities! 7",
      securitySchemes: "map<SecurityScheme> 8: By name",
      security: "Security[] 9: One of them is enough",
      defaultInputModes: "string[]! 10: Media types",
      defaultOutputModes: "string[]! 11: Media types",
      skills: "AgentSkill[]! 12",
      supportsAuthenticatedExtendedCard: "bool+ 13",
      preferredTransport: "string+ 14",
      additionalInterfaces: "AgentInterface[]+ 15",
      protocolVersion: "string! 16",
      signatures: "AgentCardSignature[] 17",
      iconUrl: "url 18",
    },
    AgentInterface: { url: "string! 1", transport: "ProtocolBinding! 2" },
    AgentCapabilities: {
      streaming: "bool+ 1",
      pushNotifications: "bool+ 2",
      extensions: "AgentExtension[] 3",
      stateTransitionHistory: "bool+",
    },
    AgentSkill: {
      id: "string! 1",
      name: "string! 2",
      description: "string! 3",
      tags: "string[]! 4",
      examples: "string[] 5",
      inputModes: "string[] 6",
      outputModes: "string[] 7",
      security: "Security[] 8",
    },
    Security: { schemes: "map<StringList> 1" },
    OAuthFlows: {
      authorizationCode: "AuthorizationCodeOAuthFlow| 1",
      clientCredentials: "ClientCredentialsOAuthFlow| 2",
      implicit: "ImplicitOAuthFlow| 3",
      password: "PasswordOAuthFlow| 4",
    },
    AuthorizationCodeOAuthFlow: {
      authorizationUrl: "url! 1",
      tokenUrl: "url! 2",
      refreshUrl: "url 3",
      scopes: "map<string>! 4",
    },
    // HTTP only.
    Error: { code: "int32!: The code of JSON-RPC", message: "string!" },
    ListTasksResponse: V1.ListTasksResponse,
  },
} as const satisfies ProtobufSchema;

const PROTO = V03_SCHEMA.messages;
const TASK_ID = "string!: The id of the task";
const CONFIG_IDS = { taskId: TASK_ID, id: "string!: The id of the config" };
const LIST = {
  contextId: "string",
  status: "TaskState",
  pageSize: "count",
  pageToken: "string",
  historyLength: PROTO.SendMessageConfiguration.historyLength,
};

/** HTTP+JSON has the ids in the path that gRPC has in resource names. */
const HTTP_SCHEMA: ProtocolSchema = {
  ...V03_SCHEMA,
  rpcs: {
    ...V1_SCHEMA.rpcs,
    CreateTaskPushNotificationConfig: "CreateTaskPushNotificationConfigRequest: TaskPushNotificationConfig",
    ListTaskPushNotificationConfigs:
      "ListTaskPushNotificationConfigsRequest: ListTaskPushNotificationConfigResponse",
  },
  messages: {
    ...PROTO,
    GetTaskRequest: { id: TASK_ID, historyLength: PROTO.SendMessageConfiguration.historyLength },
    ListTasksRequest: LIST,
    CancelTaskRequest: { id: TASK_ID, metadata: "Struct" },
    SubscribeToTaskRequest: { id: TASK_ID },
    CreateTaskPushNotificationConfigRequest: { taskId: TASK_ID, ...PROTO.TaskPushNotificationConfig },
    GetTaskPushNotificationConfigRequest: CONFIG_IDS,
    ListTaskPushNotificationConfigsRequest: { taskId: TASK_ID, pageSize: "count", pageToken: "string" },
    DeleteTaskPushNotificationConfigRequest: CONFIG_IDS,
    GetExtendedAgentCardRequest: {},
  },
};

const FILE = { name: "string", mimeType: "string" };
const ID = { id: TASK_ID, metadata: "Struct" };
const CONFIG_ID = { ...ID, pushNotificationConfigId: "string!: The id of the config" };
const { content: parts, ...MESSAGE } = PROTO.Message;
const HISTORY_LENGTH = V1.GetTaskRequest.historyLength;

/** The JSON schema of v0.3. `tasks/list` is of a later draft; some clients call it. */
const JSON_SCHEMA: ProtocolSchema = {
  rpcs: {
    [METHOD_NAMES.SendMessage]: "MessageSendParams: SendMessageResponse",
    [METHOD_NAMES.SendStreamingMessage]: "MessageSendParams: stream StreamResponse",
    [METHOD_NAMES.GetTask]: "TaskQueryParams: Task",
    [METHOD_NAMES.CancelTask]: "TaskIdParams: Task",
    [METHOD_NAMES.SubscribeToTask]: "TaskIdParams: stream StreamResponse",
    [METHOD_NAMES.CreateTaskPushNotificationConfig]: "TaskPushNotificationConfig: TaskPushNotificationConfig",
    [METHOD_NAMES.GetTaskPushNotificationConfig]:
      "GetTaskPushNotificationConfigParams: TaskPushNotificationConfig",
    [METHOD_NAMES.ListTaskPushNotificationConfigs]: "TaskIdParams: TaskPushNotificationConfig[]",
    [METHOD_NAMES.DeleteTaskPushNotificationConfig]: "DeleteTaskPushNotificationConfigParams: null",
    [METHOD_NAMES.ListTasks]: "ListTasksParams: ListTasksResponse",
    [METHOD_NAMES.GetExtendedAgentCard]: "Empty: AgentCard",
  },
  enums: {},
  stringEnums: { ...V1_SCHEMA.stringEnums, Role: Object.keys(ROLES), TaskState: Object.keys(PROTO_STATES) },
  messages: {
    ...PROTO,
    MessageSendParams: {
      message: "Message!",
      configuration: "MessageSendConfiguration",
      metadata: "Struct",
    },
    MessageSendConfiguration: {
      acceptedOutputModes: "string[]: Media types",
      pushNotificationConfig: "PushNotificationConfig",
      historyLength: HISTORY_LENGTH,
      blocking: "bool: Respond when the task has settled",
    },
    SendMessageResponse: "Task | Message",
    StreamResponse: "Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent",
    Task: { kind: "'task'!", ...PROTO.Task },
    Message: { kind: "'message'!", ...MESSAGE, parts, referenceTaskIds: "string[]" },
    Part: "TextPart | FilePart | DataPart",
    TextPart: { kind: "'text'!", text: "string!", metadata: "Struct" },
    FilePart: { kind: "'file'!", file: "FileContent!", metadata: "Struct" },
    FileContent: { bytes: "bytes|", uri: "url|", ...FILE },
    DataPart: { kind: "'data'!", data: "Struct!", metadata: "Struct" },
    TaskStatusUpdateEvent: { kind: "'status-update'!", ...PROTO.TaskStatusUpdateEvent },
    TaskArtifactUpdateEvent: { kind: "'artifact-update'!", ...PROTO.TaskArtifactUpdateEvent },
    TaskQueryParams: { ...ID, historyLength: HISTORY_LENGTH },
    TaskIdParams: ID,
    ListTasksParams: { ...LIST, historyLength: HISTORY_LENGTH },
    TaskPushNotificationConfig: { taskId: TASK_ID, pushNotificationConfig: "PushNotificationConfig!" },
    GetTaskPushNotificationConfigParams: {
      ...CONFIG_ID,
      pushNotificationConfigId: "string: The id of the config",
    },
    DeleteTaskPushNotificationConfigParams: CONFIG_ID,
    AgentCard: {
      ...PROTO.AgentCard,
      securitySchemes: "map<Struct>: By name",
      security: "map<string[]>[]: One of them is enough",
    },
    AgentSkill: { ...PROTO.AgentSkill, security: "map<string[]>[]" },
  },
};

const JSON_FORM: ApiForm = {
  prefix: "V03",
  schema: JSON_SCHEMA,
  summaries: Object.fromEntries(
    Object.entries(METHOD_NAMES).map(([name, method]) => [method, SUMMARIES[name as MethodName]]),
  ),
  constraints: {
    "Message.parts": CONSTRAINTS["Message.parts"],
    "ListTasksParams.pageSize": CONSTRAINTS["ListTasksRequest.pageSize"],
  },
  example: {
    message: { kind: "message", messageId: "m1", role: "user", parts: [{ kind: "text", text: "Hello" }] },
  },
};

const HTTP_FORM: ApiForm = {
  prefix: "V03Proto",
  schema: HTTP_SCHEMA,
  summaries: SUMMARIES,
  constraints: { ...CONSTRAINTS, "Message.content": CONSTRAINTS["Message.parts"] },
  example: { message: { messageId: "m1", role: ROLES.user, content: [{ text: "Hello" }] } },
};

/** HTTP+JSON accepts a send in the form of the JSON schema, and responds in it. */
const HTTP_SENDS: ApiForm = {
  ...JSON_FORM,
  summaries: SUMMARIES,
  schema: {
    ...JSON_SCHEMA,
    rpcs: {
      SendMessage: "MessageSendParams: SendMessageResponse",
      SendStreamingMessage: "MessageSendParams: stream StreamResponse",
    },
  },
};

export const V03_API: ApiDescription = {
  title: "A2A 0.3",
  version: "0.3",
  rest: [HTTP_FORM, HTTP_SENDS],
  jsonRpc: JSON_FORM,
  documents: { card: "AgentCard" },
  error: "Error",
};
