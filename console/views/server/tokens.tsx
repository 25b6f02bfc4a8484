import { useEffect, useState } from "preact/hooks";
import type { TokenInfo } from "../../../src/admin/api-server.ts";
import { agents, deleteAdmin, mayAct, me, postAdmin, readAdmin, segment } from "../../lib/admin.ts";
import { reasonOf } from "../../lib/api.ts";
import { ago, oneLine, when } from "../../lib/format.ts";
import { toast } from "../../lib/toast.ts";
import { Bones, Button, copy, Empty, Icon, Note } from "../../parts/basics.tsx";
import { Dialog } from "../../parts/overlays.tsx";

const PERMISSIONS = ["read", "send", "cancel", "push", "console:read", "console:act", "admin"] as const;
const LIFETIMES: readonly (readonly [string, number | undefined])[] = [
  ["7 days", 604_800],
  ["30 days", 2_592_000],
  ["1 year", 31_536_000],
  ["no end", undefined],
];

interface NewToken {
  readonly secret: string;
  readonly token: TokenInfo;
}

function CreateToken({
  onCreated,
  onClose,
}: {
  readonly onCreated: () => void;
  readonly onClose: () => void;
}) {
  const [principal, setPrincipal] = useState("");
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>(["read", "send", "cancel"]);
  const [agent, setAgent] = useState("");
  const [life, setLife] = useState("30 days");
  const [made, setMade] = useState<NewToken>();
  const [wrong, setWrong] = useState("");
  const create = async (event: Event): Promise<void> => {
    event.preventDefault();
    const expiresInSeconds = LIFETIMES.find(([label]) => label === life)?.[1];
    try {
      setMade(
        await postAdmin<NewToken>("tokens", {
          principal,
          permissions: chosen,
          ...(name && { name }),
          ...(agent && { agents: [agent] }),
          ...(expiresInSeconds && { expiresInSeconds }),
        }),
      );
      onCreated();
    } catch (error) {
      setWrong(reasonOf(error));
    }
  };
  if (made)
    return (
      <Dialog title="Token created" onClose={onClose}>
        <p>This is the only time that the token is shown. The server keeps a digest of it.</p>
        <pre class="code is-round token-secret" tabIndex={0}>
          {made.secret}
        </pre>
        <div class="actions">
          <Button
            kind="primary"
            icon="copy"
            label="Copy the token"
            onClick={() => copy(made.secret, "Copied the token")}
          />
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Create a token" onClose={onClose}>
      <form class="again" onSubmit={create}>
        <div class="two">
          <label class="lab">
            Caller
            <input
              class="field"
              required
              autofocus
              value={principal}
              placeholder="ada"
              onInput={event => setPrincipal(event.currentTarget.value)}
            />
          </label>
          <label class="lab">
            Name, for this list
            <input
              class="field"
              value={name}
              placeholder="laptop"
              onInput={event => setName(event.currentTarget.value)}
            />
          </label>
          <label class="lab">
            Agent
            <select class="field" value={agent} onChange={event => setAgent(event.currentTarget.value)}>
              <option value="">all</option>
              {(agents.value ?? []).map(one => (
                <option key={one.name} value={one.name}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
          <label class="lab">
            Lifetime
            <select class="field" value={life} onChange={event => setLife(event.currentTarget.value)}>
              {LIFETIMES.map(([label]) => (
                <option key={label} value={label}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </div>
        <fieldset class="opts">
          <legend class="lab">Permissions</legend>
          {PERMISSIONS.map(one => (
            <label key={one}>
              <input
                type="checkbox"
                checked={chosen.includes(one)}
                onChange={() =>
                  setChosen(chosen.includes(one) ? chosen.filter(other => other !== one) : [...chosen, one])
                }
              />{" "}
              {one}
            </label>
          ))}
        </fieldset>
        {wrong && (
          <p class="is-wrong" role="alert">
            {wrong}
          </p>
        )}
        <div class="actions">
          <Button
            kind="primary"
            type="submit"
            label="Create"
            disabled={principal.trim() === "" || chosen.length === 0}
          />
        </div>
      </form>
    </Dialog>
  );
}

function stateOf(token: TokenInfo, now: number): readonly [string, string] {
  if (token.revokedAt !== null) return ["canceled", "Revoked"];
  if (token.expiresAt !== null && token.expiresAt < now) return ["canceled", "Expired"];
  return ["completed", "Valid"];
}

export function Tokens() {
  const [tokens, setTokens] = useState<readonly TokenInfo[]>();
  const [problem, setProblem] = useState("");
  const [isNew, setNew] = useState(false);
  const [turn, setTurn] = useState(0);
  const isKnown = me.value?.features.tokens ?? false;
  useEffect(() => {
    if (!isKnown) return;
    const abort = new AbortController();
    readAdmin<{ tokens: readonly TokenInfo[] }>("tokens", { pageSize: "100" }, abort.signal).then(
      read => setTokens(read.tokens),
      error => abort.signal.aborted || setProblem(reasonOf(error)),
    );
    return () => abort.abort();
  }, [turn, isKnown]);
  const revoke = async (token: TokenInfo): Promise<void> => {
    if (!confirm(`Revoke the token of ${token.principal}? Calls with it are refused from now on.`)) return;
    try {
      await deleteAdmin(`tokens/${segment(token.id)}`);
      setTurn(turn + 1);
    } catch (error) {
      toast(reasonOf(error), { isError: true });
    }
  };
  if (!isKnown)
    return (
      <Empty icon="key" title="This server uses no tokens">
        <p>
          Start it with <code>--auth tokens</code>, then create tokens here or with{" "}
          <code>npx dragoman token create</code>.
        </p>
      </Empty>
    );
  if (problem) return <Note>{problem}</Note>;
  const now = Date.now();
  return (
    <>
      <div class="filters">
        <span class="grow muted">A token belongs to one caller and is shown once, when it is created.</span>
        <Button
          kind="primary"
          icon="plus"
          label="Create a token"
          disabled={!mayAct()}
          onClick={() => setNew(true)}
        />
      </div>
      {!tokens && <Bones />}
      {tokens?.length === 0 && <Empty icon="key" title="No tokens" />}
      {tokens && tokens.length > 0 && (
        <section class="card scroll">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">State</th>
                <th scope="col">Caller</th>
                <th scope="col">Name</th>
                <th scope="col">Permissions</th>
                <th scope="col">Agents</th>
                <th scope="col">Tenants</th>
                <th scope="col" class="num">
                  Used
                </th>
                <th scope="col" class="num">
                  Expires
                </th>
                <th scope="col">
                  <span class="sr">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {tokens.map(one => {
                const [look, word] = stateOf(one, now);
                return (
                  <tr key={one.id}>
                    <td>
                      <span class={`st is-${look}`}>
                        <Icon name={look} />
                        {word}
                      </span>
                    </td>
                    <td>{oneLine(one.principal, 40)}</td>
                    <td class="muted">{one.name ? oneLine(one.name, 30) : ""}</td>
                    <td>
                      <span class="chips token-permissions">
                        {one.permissions.map(permission => (
                          <span key={permission} class="tag">
                            {permission}
                          </span>
                        ))}
                      </span>
                    </td>
                    <td>{one.agents ? oneLine(one.agents.join(", "), 60) : "all"}</td>
                    <td>{oneLine(one.tenants.join(", "), 40)}</td>
                    <td class="num">{one.usedAt === null ? "never" : ago(now - one.usedAt)}</td>
                    <td class="num">{one.expiresAt === null ? "never" : when(one.expiresAt)}</td>
                    <td class="row-actions">
                      {look === "completed" && (
                        <Button
                          small
                          kind="danger"
                          label="Revoke"
                          disabled={!mayAct()}
                          onClick={() => revoke(one)}
                        />
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </section>
      )}
      {isNew && <CreateToken onCreated={() => setTurn(turn + 1)} onClose={() => setNew(false)} />}
    </>
  );
}
