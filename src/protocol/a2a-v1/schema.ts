import { LIMITS, type Role, type TaskState } from "../../model/index.ts";
import type { ApiDescription } from "../openapi/description.ts";
import type { ProtobufSchema } from "../protobuf/schema.ts";

/** In the order of their numbers in the definition, from 1. */
export const STATES: Readonly<Record<TaskState, string>> = {
  submitted: "TASK_STATE_SUBMITTED",
  working: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  canceled: "TASK_STATE_CANCELED",
  "input-required": "TASK_STATE_INPUT_REQUIRED",
  rejected: "TASK_STATE_REJECTED",
  "auth-required": "TASK_STATE_AUTH_REQUIRED",
};

export const ROLES: Readonly<Record<Role, string>> = { user: "ROLE_USER", agent: "ROLE_AGENT" };

const HISTORY_LENGTH = "At most this many messages of the history, the newest; absent: all";

/** The definition of v1.0 (`a2a.proto`), and the members that Dragoman adds in JSON. */
export const V1_SCHEMA = {
  package: "lf.a2a.v1",
  service: "A2AService",
  rpcs: {
    SendMessage: "SendMessageRequest: SendMessageResponse",
    SendStreamingMessage: "SendMessageRequest: stream StreamResponse",
    GetTask: "GetTaskRequest: Task",
    ListTasks: "ListTasksRequest: ListTasksResponse",
    CancelTask: "CancelTaskRequest: Task",
    SubscribeToTask: "SubscribeToTaskRequest: stream StreamResponse",
    CreateTaskPushNotificationConfig: "TaskPushNotificationConfig: TaskPushNotificationConfig",
    GetTaskPushNotificationConfig: "GetTaskPushNotificationConfigRequest: TaskPushNotificationConfig",
    ListTaskPushNotificationConfigs:
      "ListTaskPushNotificationConfigsRequest: ListTaskPushNotificationConfigsResponse",
    DeleteTaskPushNotificationConfig: "DeleteTaskPushNotificationConfigRequest: Empty",
    GetExtendedAgentCard: "GetExtendedAgentCardRequest: AgentCard",
  },
  enums: {
    Role: ["ROLE_UNSPECIFIED", ...Object.values(ROLES)],
    TaskState: ["TASK_STATE_UNSPECIFIED", ...Object.values(STATES)],
  },
  stringEnums: {
    ProtocolBinding: ["JSONRPC", "HTTP+JSON", "GRPC"],
    PushEvents: ["all", "status"],
  },
  messages: {
    SendMessageRequest: {
      tenant: "string 1",
      message: "Message! 2",
      configuration: "SendMessageConfiguration 3",
      metadata: "Struct 4",
    },
    SendMessageConfiguration: {
      acceptedOutputModes: "string[] 1: Media types",
      taskPushNotificationConfig: "TaskPushNotificationConfig 2",
      historyLength: `count? 3: ${HISTORY_LENGTH}`,
      returnImmediately: "bool 4: Respond before the task has settled",
    },
    SendMessageResponse: { task: "Task| 1", message: "Message| 2" },
    StreamResponse: {
      task: "Task| 1",
      message: "Message| 2",
      statusUpdate: "TaskStatusUpdateEvent| 3",
      artifactUpdate: "TaskArtifactUpdateEvent| 4",
    },
    Task: {
      id: "string! 1",
      contextId: "string+ 2",
      status: "TaskStatus! 3",
      artifacts: "Artifact[] 4",
      history: "Message[] 5",
      metadata: "Struct 6",
    },
    TaskStatus: { state: "TaskState! 1", message: "Message 2", timestamp: "Timestamp+ 3" },
    Message: {
      messageId: "string! 1",
      contextId: "string 2: The conversation; absent: a new one begins",
      taskId: "string 3: The task that this message continues",
      role: "Role! 4",
      parts: "Part[]! 5",
      metadata: "Struct 6",
      extensions: "string[] 7",
      referenceTaskIds: "string[] 8",
    },
    Part: {
      text: "string| 1",
      raw: "bytes| 2",
      url: "url| 3",
      data: "Value| 4: Any JSON value",
      metadata: "Struct 5",
      filename: "string 6",
      mediaType: "string 7",
    },
    Artifact: {
      artifactId: "string! 1",
      name: "string 2",
      description: "string 3",
      parts: "Part[]! 4",
      metadata: "Struct 5",
      extensions: "string[] 6",
    },
    TaskStatusUpdateEvent: {
      taskId: "string! 1",
      contextId: "string! 2",
      status: "TaskStatus! 3",
      metadata: "Struct 4",
    },
    TaskArtifactUpdateEvent: {
      taskId: "string! 1",
      contextId: "string! 2",
      artifact: "Artifact! 3",
      append: "bool 4: The parts are added to those of the artifact",
      lastChunk: "bool 5: The artifact is complete",
      metadata: "Struct 6",
    },
    GetTaskRequest: {
      tenant: "string 1",
      id: "string! 2: The id of the task",
      historyLength: `count? 3: ${HISTORY_LENGTH}`,
    },
    ListTasksRequest: {
      tenant: "string 1",
      contextId: "string 2",
      status: "TaskState 3",
      pageSize: "count? 4",
      pageToken: "string 5",
      historyLength: `count? 6: ${HISTORY_LENGTH}`,
      statusTimestampAfter: "Timestamp 7",
      includeArtifacts: "bool? 8",
    },
    ListTasksResponse: {
      tasks: "Task[]! 1",
      nextPageToken: "string! 2: Empty on the last page",
      pageSize: "count! 3",
      totalSize: "count! 4",
    },
    CancelTaskRequest: { tenant: "string 1", id: "string! 2: The id of the task", metadata: "Struct 3" },
    SubscribeToTaskRequest: { tenant: "string 1", id: "string! 2: The id of the task" },
    TaskPushNotificationConfig: {
      tenant: "string 1",
      id: "string 2: The id of the config; absent: the server creates one",
      taskId: "string 3: The id of the task",
      url: "url! 4: The webhook",
      token: "string 5: Sent with each notification, as X-A2A-Notification-Token",
      authentication: "AuthenticationInfo 6",
      events: "PushEvents: status: artifact updates are not sent",
      secret: "string: Shared with the webhook; notifications are signed with it",
    },
    AuthenticationInfo: { scheme: "string! 1: Such as Bearer", credentials: "string 2" },
    GetTaskPushNotificationConfigRequest: {
      tenant: "string 1",
      taskId: "string! 2: The id of the task",
      id: "string! 3: The id of the config",
    },
    DeleteTaskPushNotificationConfigRequest: {
      tenant: "string 1",
      taskId: "string! 2: The id of the task",
      id: "string! 3: The id of the config",
    },
    ListTaskPushNotificationConfigsRequest: {
      taskId: "string! 1: The id of the task",
      pageSize: "count 2",
      pageToken: "string 3",
      tenant: "string 4",
    },
    ListTaskPushNotificationConfigsResponse: {
      configs: "TaskPushNotificationConfig[]+ 1",
      nextPageToken: "string+ 2: Empty on the last page",
    },
    GetExtendedAgentCardRequest: { tenant: "string 1" },
    AgentCard: {
      name: "string! 1",
      description: "string! 2",
      supportedInterfaces: "AgentInterface[]! 3",
      provider: "AgentProvider 4",
      version: "string! 5: The version of the agent",
      documentationUrl: "url? 6",
      capabilities: "AgentCapabilities! 7",
      securitySchemes: "map<SecurityScheme> 8: By name",
      securityRequirements: "SecurityRequirement[] 9: One of them is enough",
      defaultInputModes: "string[]! 10: Media types",
      defaultOutputModes: "string[]! 11: Media types",
      skills: "AgentSkill[]! 12",
      signatures: "AgentCardSignature[] 13",
      iconUrl: "url? 14",
    },
    AgentInterface: {
      url: "string! 1",
      protocolBinding: "ProtocolBinding! 2",
      tenant: "string 3",
      protocolVersion: "string! 4",
    },
    AgentProvider: { url: "url! 1", organization: "string! 2" },
    AgentCapabilities: {
      streaming: "bool?+ 1",
      pushNotifications: "bool?+ 2",
      extensions: "AgentExtension[] 3",
      extendedAgentCard: "bool?+ 4",
    },
    AgentExtension: { uri: "string+ 1", description: "string 2", required: "bool 3", params: "Struct 4" },
    AgentSkill: {
      id: "string! 1",
      name: "string! 2",
      description: "string! 3",
      tags: "string[]! 4",
      examples: "string[] 5",
      inputModes: "string[] 6",
      outputModes: "string[] 7",
      securityRequirements: "SecurityRequirement[] 8",
    },
    AgentCardSignature: { protected: "string! 1", signature: "string! 2", header: "Struct 3" },
    SecurityRequirement: { schemes: "map<StringList> 1" },
    StringList: { list: "string[] 1" },
    SecurityScheme: {
      apiKeySecurityScheme: "APIKeySecurityScheme| 1",
      httpAuthSecurityScheme: "HTTPAuthSecurityScheme| 2",
      oauth2SecurityScheme: "OAuth2SecurityScheme| 3",
      openIdConnectSecurityScheme: "OpenIdConnectSecurityScheme| 4",
      mtlsSecurityScheme: "MutualTlsSecurityScheme| 5",
    },
    APIKeySecurityScheme: { description: "string 1", location: "string! 2", name: "string! 3" },
    HTTPAuthSecurityScheme: { description: "string 1", scheme: "string! 2", bearerFormat: "string 3" },
    OAuth2SecurityScheme: { description: "string 1", flows: "OAuthFlows! 2", oauth2MetadataUrl: "url 3" },
    OpenIdConnectSecurityScheme: { description: "string 1", openIdConnectUrl: "url! 2" },
    MutualTlsSecurityScheme: { description: "string 1" },
    OAuthFlows: {
      authorizationCode: "AuthorizationCodeOAuthFlow| 1",
      clientCredentials: "ClientCredentialsOAuthFlow| 2",
      implicit: "ImplicitOAuthFlow| 3",
      password: "PasswordOAuthFlow| 4",
      deviceCode: "DeviceCodeOAuthFlow| 5",
    },
    AuthorizationCodeOAuthFlow: {
      authorizationUrl: "url! 1",
      tokenUrl: "url! 2",
      refreshUrl: "url 3",
      scopes: "map<string>! 4",
      pkceRequired: "bool 5",
    },
    ClientCredentialsOAuthFlow: { tokenUrl: "url! 1", refreshUrl: "url 2", scopes: "map<string>! 3" },
    ImplicitOAuthFlow: { authorizationUrl: "url 1", refreshUrl: "url 2", scopes: "map<string> 3" },
    PasswordOAuthFlow: { tokenUrl: "url! 1", refreshUrl: "url 2", scopes: "map<string>! 3" },
    DeviceCodeOAuthFlow: {
      deviceAuthorizationUrl: "url! 1",
      tokenUrl: "url! 2",
      refreshUrl: "url 3",
      scopes: "map<string>! 4",
    },
    // HTTP only.
    AgentList: { agents: "AgentListEntry[]!" },
    AgentListEntry: {
      name: "string!",
      description: "string!",
      url: "url!",
      card: "url!",
      default: "bool!",
    },
    Error: { error: "Status!" },
    Status: {
      code: "int32!: The HTTP status",
      status: "string!: A name of google.rpc.Code",
      message: "string!",
      details: "Any[]",
    },
  },
} as const satisfies ProtobufSchema;

export const SUMMARIES: Readonly<Record<keyof typeof V1_SCHEMA.rpcs, string>> = {
  SendMessage: "Send a message and get the task or message that the agent responds with",
  SendStreamingMessage: "Send a message and stream the updates of the task",
  GetTask: "Get a task",
  ListTasks: "List tasks, the newest first",
  CancelTask: "Cancel a task",
  SubscribeToTask: "Stream the updates of a task, from now on or after the event that Last-Event-ID names",
  CreateTaskPushNotificationConfig: "Create a push notification config: a webhook for the updates of a task",
  GetTaskPushNotificationConfig: "Get a push notification config, without its secrets",
  ListTaskPushNotificationConfigs: "List the push notification configs of a task",
  DeleteTaskPushNotificationConfig: "Delete a push notification config",
  GetExtendedAgentCard: "Get the extended agent card, if the agent has one and the caller is authenticated",
};

/** Limits that the server checks beyond the definition. */
export const CONSTRAINTS = {
  "Message.parts": { minItems: 1 },
  "ListTasksRequest.pageSize": {
    minimum: 1,
    maximum: LIMITS.pageSizeMax,
    default: LIMITS.pageSizeDefault,
  },
  "ListTasksRequest.includeArtifacts": { default: false },
  "ListTaskPushNotificationConfigsRequest.pageSize": { maximum: LIMITS.pageSizeMax },
};

const FORM = {
  prefix: "V1",
  schema: V1_SCHEMA,
  summaries: SUMMARIES,
  constraints: {
    ...CONSTRAINTS,
    AgentCard: { description: "Without A2A-Version, the card also has the members of a card of 0.3" },
  },
  requires: { CreateTaskPushNotificationConfig: ["taskId"] },
  example: { message: { messageId: "m1", role: ROLES.user, parts: [{ text: "Hello" }] } },
};

export const V1_API: ApiDescription = {
  title: "A2A 1.0",
  version: "1.0",
  rest: [FORM],
  jsonRpc: FORM,
  documents: { card: "AgentCard", agents: "AgentList" },
  error: "Error",
};
