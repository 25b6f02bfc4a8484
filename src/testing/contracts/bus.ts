import type { RemoteBus } from "../../ports/index.ts";
import { type ContractCase, defineContract, until } from "./contract.ts";
import { expect } from "./expect.ts";

export interface BusUnderTest {
  /** Creates a node; all nodes of one test are connected. */
  open(node: string, onRemote: (topic: string | undefined) => void): RemoteBus;
  /** A node whose broker does not answer. */
  lonely(node: string): RemoteBus;
  /** Breaks all connections; reconnecting is possible. */
  cut(): Promise<void>;
}

/** The contract of every bus between nodes. */
export function busContract(create: () => BusUnderTest): readonly ContractCase[] {
  return defineContract("the bus", ({ afterEach, beforeEach, it }) => {
    let under: BusUnderTest;
    let nodes: RemoteBus[] = [];
    const received: string[] = [];
    const open = (node: string): RemoteBus => {
      const bus = under.open(node, topic => void received.push(`${node} ${topic ?? "*"}`));
      nodes.push(bus);
      return bus;
    };
    beforeEach(() => {
      under = create();
      received.length = 0;
    });
    afterEach(async () => {
      await Promise.all(nodes.map(node => node.close()));
      nodes = [];
    });
    /** Notifies until the other node receives it: nodes receive nothing before they are connected. */
    const connect = (from: RemoteBus, to: string): Promise<void> =>
      until(() => {
        from.notify("ready");
        return Promise.resolve(received.includes(`${to} ready`));
      });

    it("notifies listeners on this node at once, and on others soon", async () => {
      const [a, b] = [open("a"), open("b")];
      let [here, there] = [0, 0];
      a.subscribe("t", { wake: () => void here++ });
      b.subscribe("t", { wake: () => void there++ });
      a.notify("t");
      expect(here).toBe(1);
      await connect(a, "b");
      a.notify("t");
      await until(() => Promise.resolve(there > 0 && received.includes("b t")));
      expect(received).not.toContain("b u");
    });

    it("passes notifications of other nodes to the store before it wakes listeners, and never its own", async () => {
      const [a, b] = [open("a"), open("b")];
      await connect(a, "b");
      const order: string[] = [];
      b.subscribe("x", { wake: () => void order.push(received.includes("b x") ? "after" : "before") });
      a.notify("x");
      await until(() => Promise.resolve(order.includes("after")));
      expect(received).not.toContain("a x");
    });

    it("delivers thousands of notifications, however many come at once", async () => {
      const a = open("a");
      open("b");
      await connect(a, "b");
      const topics = Array.from(
        { length: 3_000 },
        (_, i) => `018f0000-0000-7000-8000-${String(i).padStart(12, "0")}`,
      );
      for (const topic of topics) a.notify(topic);
      await until(() => Promise.resolve(topics.every(topic => received.includes(`b ${topic}`))));
    });

    it("a removed listener is not notified", async () => {
      const a = open("a");
      let count = 0;
      const sleeper = { wake: () => void count++ };
      a.subscribe("t", sleeper);
      a.unsubscribe("t", sleeper);
      a.notify("t");
      expect(count).toBe(0);
    });

    it("after a connection broke, all listeners are woken, and notifications are delivered as before", async () => {
      const [a, b] = [open("a"), open("b")];
      await connect(a, "b");
      let woken = 0;
      b.subscribe("t", { wake: () => void woken++ });
      received.length = 0;
      await under.cut();
      await until(() => Promise.resolve(received.includes("b *") && woken > 0));
      received.length = 0;
      await connect(a, "b");
    });

    it("notifications that were lost while a connection was broken are made up for after it is back", async () => {
      const [a, b] = [open("a"), open("b")];
      await connect(a, "b");
      await connect(b, "a");
      const cut = under.cut();
      // It is unknown which of these are delivered: listeners on both nodes are woken.
      const ring = setInterval(() => a.notify("lost"), 1);
      await cut;
      clearInterval(ring);
      await until(() => Promise.resolve(received.includes("a *") && received.includes("b *")));
      received.length = 0;
      await connect(b, "a");
    });

    it("closes at once, also if the broker does not answer", async () => {
      const bus = under.lonely("alone");
      bus.notify("t");
      await bus.close();
    });
  });
}
