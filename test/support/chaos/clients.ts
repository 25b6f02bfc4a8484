/** One caller for each dialect, which sends a text and reads the result. */

export interface ChaosClient {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The call, the same every time for the same text. */
  call(text: string, how: "send" | "stream"): { readonly method: string; readonly params: object };
}

const message = (text: string, part: object, role: string): object => ({
  messageId: `m-${text}`,
  role,
  parts: [part],
});
const kind = (text: string): object => message(text, { kind: "text", text }, "user");
const typed = (text: string): object => ({ role: "user", parts: [{ type: "text", text }] });
const AGENT = "worker";

const kindred = (name: string, path: string, headers: ChaosClient["headers"] = {}): ChaosClient => ({
  name,
  path,
  headers,
  call: (text, how) => ({ method: `message/${how}`, params: { message: kind(text) } }),
});

const first = (
  name: string,
  path: string,
  message: (text: string) => object,
  withId: boolean,
): ChaosClient => ({
  name,
  path,
  headers: {},
  call: (text, how) => ({
    method: how === "send" ? "tasks/send" : "tasks/sendSubscribe",
    params: { ...(withId && { id: `own-${name}-${text}` }), message: message(text) },
  }),
});

const v1: ChaosClient = {
  name: "v1",
  path: `/agents/${AGENT}`,
  headers: { "a2a-version": "1.0" },
  call: (text, how) => ({
    method: how === "send" ? "SendMessage" : "SendStreamingMessage",
    params: { message: message(text, { text }, "ROLE_USER") },
  }),
};

/** A caller with a webhook as well, at the path of the text. */
export const withWebhook = (url: string): ChaosClient => ({
  ...v1,
  name: "v1 with a webhook",
  call(text, how) {
    const { method, params } = v1.call(text, how);
    return {
      method,
      params: { ...params, configuration: { taskPushNotificationConfig: { url: `${url}/${text}` } } },
    };
  },
});

export const CHAOS_CLIENTS: readonly ChaosClient[] = [
  v1,
  kindred("v03", `/agents/${AGENT}`),
  kindred("v02", `/agents/${AGENT}`, { "a2a-version": "0.2" }),
  kindred("langgraph", `/a2a/${AGENT}`),
  kindred("arbiter", `/v1/a2a/agents/${AGENT}`),
  first("v01", `/agents/${AGENT}`, typed, true),
  first("orloj", `/v1/agent-systems/${AGENT}/a2a`, typed, true),
  first("simple", "/", kind, false),
];
