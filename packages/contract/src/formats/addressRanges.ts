const subnets = (list: string): ReadonlyArray<string> => list.trim().split(/\s+/)

/** Link-local addresses, and those where clouds serve credentials (docs/rules.md#targets). */
export const METADATA = [
  ...subnets("169.254.0.0/16 fe80::/10"),
  // AWS: metadata, and credentials of pods.
  "fd00:ec2::/32",
  // Alibaba Cloud, Azure, Oracle Cloud, Google Cloud and Scaleway.
  ...subnets("100.100.100.200/32 168.63.129.16/32 192.0.0.192/32 fd20:ce::254/128 fd00:42::42/128"),
]

/** Those that lead to the host itself, the unspecified ones too. */
export const LOOPBACK = subnets("0.0.0.0/8 127.0.0.0/8 ::/127")

/** Addresses outside the public internet: IANA's special-purpose registries (RFC 6890). */
export const SPECIAL = [
  ...LOOPBACK,
  ...subnets(`
    10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
    64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/32 2001:2::/48 2001:10::/28 2001:db8::/32
    3fff::/20 5f00::/16 fc00::/7 fec0::/10 ff00::/8
  `),
]

/** The parts of `node:net` that compare addresses. */
interface Net {
  readonly isIP: (text: string) => number
  readonly BlockList: new () => {
    readonly addSubnet: (network: string, prefix: number, family: "ipv4" | "ipv6") => void
    readonly check: (address: string, family: "ipv4" | "ipv6") => boolean
  }
}

/** Every platform has it; this package has the types of none. */
declare const URL: { readonly parse: (text: string) => { readonly hostname: string } | null }

const LAST = [12, 13, 14, 15]

/**
 * Every routed form of an IPv4 address within an IPv6 one: its first hexadecimal digits, and the
 * positions of the bytes. Networks choose the length of their NAT64 prefix (RFC 6052, RFC 8215).
 */
const EMBEDDINGS = [
  // Compatible, mapped, and translated (SIIT).
  { prefix: "000000000000000000000000", bytes: LAST },
  { prefix: "00000000000000000000ffff", bytes: LAST },
  { prefix: "0000000000000000ffff0000", bytes: LAST },
  // NAT64; local NAT64 with prefixes of 48, 56, 64 and 96 bits.
  { prefix: "0064ff9b0000000000000000", bytes: LAST },
  { prefix: "0064ff9b0001", bytes: [6, 7, 9, 10] },
  { prefix: "0064ff9b0001", bytes: [7, 9, 10, 11] },
  { prefix: "0064ff9b0001", bytes: [9, 10, 11, 12] },
  { prefix: "0064ff9b0001", bytes: LAST },
  // 6to4.
  { prefix: "2002", bytes: [2, 3, 4, 5] },
  // Teredo: its server, and the client behind it.
  { prefix: "20010000", bytes: [4, 5, 6, 7] },
  { prefix: "20010000", bytes: LAST, isInverted: true },
]

/** All 32 hexadecimal digits of an IPv6 address; a zone such as `%eth0` is ignored. */
const digitsOf = (address: string): string => {
  const [plain] = address.split("%")
  // URL writes a trailing IPv4 part in hexadecimal.
  const [head = "", tail = ""] = (URL.parse(`http://[${plain}]`)?.hostname ?? "")
    .slice(1, -1)
    .split("::")
    .map((side) => side.replaceAll(/[^:]+/g, (group) => group.padStart(4, "0")).replaceAll(":", ""))
  return head + tail.padStart(32 - head.length, "0")
}

/** The IPv4 addresses that an IPv6 address may lead to. */
const embeddedIpv4 = (address: string): ReadonlyArray<string> => {
  const digits = digitsOf(address)
  const byteAt = (at: number): number => Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16)
  return EMBEDDINGS.filter(({ prefix }) => digits.startsWith(prefix)).map(({ bytes, isInverted = false }) =>
    bytes.map((at) => (isInverted ? 255 - byteAt(at) : byteAt(at))).join("."),
  )
}

/** Compares addresses with networks, each an address with or without the length of its prefix. */
export const networksOf = ({ BlockList, isIP }: Net, networks: ReadonlyArray<string>) => {
  const list = new BlockList()
  for (const one of networks) {
    const [network = "", prefix] = one.split("/")
    const isV6 = network.includes(":")
    list.addSubnet(network, Number(prefix ?? (isV6 ? 128 : 32)), isV6 ? "ipv6" : "ipv4")
  }
  return (address: string): boolean => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")
}

/**
 * Whether an IP address is in one of these networks, or leads to one of them by an IPv4 address that it contains.
 * Accepts the zone that getaddrinfo may append, as in `fe80::1%eth0`.
 */
export const addressesIn = (net: Net, networks: ReadonlyArray<string>) => {
  const isIn = networksOf(net, networks)
  return (address: string): boolean =>
    isIn(address) || (net.isIP(address) === 6 && embeddedIpv4(address).some(isIn))
}
