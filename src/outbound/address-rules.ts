import { BlockList, isIP } from "node:net";
import { trimEnd } from "../lib/trim-end.ts";

type Net = readonly [net: string, bits: number];

/** Addresses that are nobody's business but ours: RFC 6890 and its kin. */
const INSIDE_V4: readonly Net[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Where Azure tells machines about themselves: it looks like any other address.
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
/** Only 2000::/3 is the Internet (RFC 4291 §2.4), and not where an address of the other kind is inside. */
const INSIDE_V6: readonly Net[] = [
  // Mapped, translated (64:ff9b::/96), loopback, discarded.
  ["::", 3],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  // Private, link-local, multicast among them.
  ["4000::", 2],
  ["8000::", 1],
];

const LOOPBACK: readonly Net[] = [
  ["127.0.0.0", 8],
  ["::1", 128],
];

const typeOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4");

function toList(nets: readonly Net[]): BlockList {
  const list = new BlockList();
  for (const [net, bits] of nets) list.addSubnet(net, bits, typeOf(net));
  return list;
}

/** What may be called all the same. */
export interface Allowance {
  /** Names of hosts, addresses, networks such as 10.1.0.0/16. */
  readonly allow: readonly string[];
  readonly loopback: boolean;
}

export interface Addresses {
  /** Whether a connection to this address may be made, when a host of this name was asked for. */
  isAllowed(address: string, host: string): boolean;
  /** Whoever runs this server named the host. */
  isNamed(host: string): boolean;
}

export function createAddresses({ allow, loopback }: Allowance): Addresses {
  const isNet = (entry: string): boolean => isIP(entry.split("/")[0] ?? "") !== 0;
  const hosts = new Set(allow.filter(entry => !isNet(entry)).map(toName));
  const nets = toList([...allow.filter(isNet).map(toNet), ...(loopback ? LOOPBACK : [])]);
  // Two lists: one list would take every address of the one kind for the other, mapped.
  const inside = { ipv4: toList(INSIDE_V4), ipv6: toList(INSIDE_V6) };
  const isNamed = (host: string): boolean => hosts.has(toName(host));
  return {
    isNamed,
    isAllowed(address, host) {
      // The interface that may stand behind an address of a link does not make it another.
      const [bare = ""] = address.split("%", 1);
      if (isIP(bare) === 0) return false;
      const type = typeOf(bare);
      return isNamed(host) || nets.check(bare, type) || !inside[type].check(bare, type);
    },
  };
}

function toNet(entry: string): Net {
  const [net = "", bits] = entry.split("/");
  return [net, bits === undefined ? (isIP(net) === 6 ? 128 : 32) : Number(bits)];
}

/** Names are the same in small letters, and with a dot at their end. */
export const toName = (host: string): string => trimEnd(host.toLowerCase(), ".");

const THIS_MACHINE = toList(LOOPBACK);

/** RFC 6761 §6.3: whatever ends so is this machine. */
export function isLoopback(host: string): boolean {
  const name = toName(host);
  if (isIP(name) !== 0) return THIS_MACHINE.check(name, typeOf(name));
  return name === "localhost" || name.endsWith(".localhost");
}
