import { BlockList, isIP } from "node:net";

/** Addresses that are nobody's business but ours: RFC 6890 and its kin, and what wraps them in other forms. */
const INSIDE: readonly (readonly [net: string, bits: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
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
  ["::", 128],
  ["::1", 128],
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
];

const typeOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4");

function toList(nets: readonly (readonly [net: string, bits: number])[]): BlockList {
  const list = new BlockList();
  for (const [net, bits] of nets) list.addSubnet(net, bits, typeOf(net));
  return list;
}

/** What may be called all the same: names of hosts, addresses, networks such as 10.1.0.0/16. */
export interface Allowed {
  readonly hosts: ReadonlySet<string>;
  readonly nets: BlockList;
}

export function toAllowed(entries: readonly string[]): Allowed {
  const nets: (readonly [string, number])[] = [];
  const hosts = new Set<string>();
  for (const entry of entries) {
    const [net = "", bits] = entry.split("/");
    if (isIP(net) === 0) hosts.add(entry.toLowerCase());
    else nets.push([net, bits === undefined ? (isIP(net) === 6 ? 128 : 32) : Number(bits)]);
  }
  return { hosts, nets: toList(nets) };
}

/** Whether a connection to this address may be made, when a host of this name was asked for. */
export function createAddressCheck(allowed: Allowed): (address: string, host: string) => boolean {
  const inside = toList(INSIDE);
  return (address, host) => {
    if (isIP(address) === 0) return false;
    const type = typeOf(address);
    return (
      allowed.hosts.has(host.toLowerCase()) ||
      allowed.nets.check(address, type) ||
      !inside.check(address, type)
    );
  };
}
