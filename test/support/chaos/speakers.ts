/** One caller of each dialect, who sends a text and reads what becomes of it. */

export interface Speaker {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The call, the same every time it is asked for with the same words. */
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

const kindred = (name: string, path: string, headers: Speaker["headers"] = {}): Speaker => ({
  name,
  path,
  headers,
  call: (text, how) => ({ method: `message/${how}`, params: { message: kind(text) } }),
});

const first = (name: string, path: string, message: (text: string) => object, withId: boolean): Speaker => ({
  name,
  path,
  headers: {},
  call: (text, how) => ({
    method: how === "send" ? "tasks/send" : "tasks/sendSubscribe",
    params: { ...(withId && { id: `own-${name}-${text}` }), message: message(text) },
  }),
});

const v1: Speaker = {
  name: "v1",
  path: `/agents/${AGENT}`,
  headers: { "a2a-version": "1.0" },
  call: (text, how) => ({
    method: how === "send" ? "SendMessage" : "SendStreamingMessage",
    params: { message: message(text, { text }, "ROLE_USER") },
  }),
};

/** One who has updates delivered to a webhook as well: to the path that is called like the text. */
export const withWebhook = (url: string): Speaker => ({
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

export const SPEAKERS: readonly Speaker[] = [
  v1,
  kindred("v03", `/agents/${AGENT}`),
  kindred("v02", `/agents/${AGENT}`, { "a2a-version": "0.2" }),
  kindred("langgraph", `/a2a/${AGENT}`),
  kindred("arbiter", `/v1/a2a/agents/${AGENT}`),
  first("v01", `/agents/${AGENT}`, typed, true),
  first("orloj", `/v1/agent-systems/${AGENT}/a2a`, typed, true),
  first("simple", "/", kind, false),
];
