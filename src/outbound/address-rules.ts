import { BlockList, isIP } from "node:net";
import { trimEnd } from "../lib/trim-end.ts";

type Net = readonly [net: string, bits: number];

/** Internal and special-purpose addresses (RFC 6890). */
const INTERNAL_V4: readonly Net[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // The metadata service of Azure has a public address.
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
/** Only 2000::/3 is global unicast (RFC 4291 §2.4), without the ranges that embed IPv4 addresses. */
const INTERNAL_V6: readonly Net[] = [
  // IPv4-mapped, NAT64 (64:ff9b::/96), loopback, discard.
  ["::", 3],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  // Unique local, link-local, multicast among them.
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

export interface AddressOptions {
  /** Host names, addresses and networks (10.1.0.0/16) that may be called although they are internal. */
  readonly allow: readonly string[];
  readonly loopback: boolean;
}

export interface AddressRules {
  /** Whether a connection to this address, resolved from this host name, is allowed. */
  isAllowed(address: string, host: string): boolean;
  /** The operator allowed this host name. */
  isAllowedHost(host: string): boolean;
}

export function createAddressRules({ allow, loopback }: AddressOptions): AddressRules {
  const isNet = (entry: string): boolean => isIP(entry.split("/")[0] ?? "") !== 0;
  const hosts = new Set(allow.filter(entry => !isNet(entry)).map(normalizeHost));
  const nets = toList([...allow.filter(isNet).map(toNet), ...(loopback ? LOOPBACK : [])]);
  // Two lists: BlockList matches IPv4 rules against IPv4-mapped IPv6 addresses.
  const internal = { ipv4: toList(INTERNAL_V4), ipv6: toList(INTERNAL_V6) };
  const isAllowedHost = (host: string): boolean => hosts.has(normalizeHost(host));
  return {
    isAllowedHost: isAllowedHost,
    isAllowed(address, host) {
      // The zone id of a link-local address does not matter.
      const [bare = ""] = address.split("%", 1);
      if (isIP(bare) === 0) return false;
      const type = typeOf(bare);
      return isAllowedHost(host) || nets.check(bare, type) || !internal[type].check(bare, type);
    },
  };
}

function toNet(entry: string): Net {
  const [net = "", bits] = entry.split("/");
  return [net, bits === undefined ? (isIP(net) === 6 ? 128 : 32) : Number(bits)];
}

/** Host names are case-insensitive, and a trailing dot does not matter. */
export const normalizeHost = (host: string): string => trimEnd(host.toLowerCase(), ".");

const THIS_MACHINE = toList(LOOPBACK);

/** RFC 6761 §6.3: names below localhost are loopback. */
export function isLoopback(host: string): boolean {
  const name = normalizeHost(host);
  if (isIP(name) !== 0) return THIS_MACHINE.check(name, typeOf(name));
  return name === "localhost" || name.endsWith(".localhost");
}
