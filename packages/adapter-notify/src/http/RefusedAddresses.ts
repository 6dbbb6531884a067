import { BlockList, isIP } from "node:net"
import { embeddedIpv4 } from "./embeddedIpv4.ts"

type Subnet4 = readonly [network: readonly [number, number, number, number], prefix: number]
type Subnet6 = readonly [network: string, prefix: number]

/** Link-local, and where clouds answer with credentials: never called (docs/rules.md#targets). */
const METADATA_V4: ReadonlyArray<Subnet4> = [
  [[169, 254, 0, 0], 16],
  // Alibaba Cloud.
  [[100, 100, 100, 200], 32],
  // Azure.
  [[168, 63, 129, 16], 32],
  // Oracle Cloud.
  [[192, 0, 0, 192], 32],
]

const METADATA_V6: ReadonlyArray<Subnet6> = [
  ["fe80::", 10],
  // AWS: metadata, and credentials of pods.
  ["fd00:ec2::", 32],
  // Google Cloud.
  ["fd20:ce::254", 128],
  // Scaleway.
  ["fd00:42::42", 128],
]

/** What is not on the public internet: the special-purpose registries of IANA (RFC 6890). */
const PRIVATE_V4: ReadonlyArray<Subnet4> = [
  [[0, 0, 0, 0], 8],
  [[10, 0, 0, 0], 8],
  [[100, 64, 0, 0], 10],
  [[127, 0, 0, 0], 8],
  [[172, 16, 0, 0], 12],
  [[192, 0, 0, 0], 24],
  [[192, 0, 2, 0], 24],
  // 6to4 relays, given up.
  [[192, 88, 99, 0], 24],
  [[192, 168, 0, 0], 16],
  [[198, 18, 0, 0], 15],
  [[198, 51, 100, 0], 24],
  [[203, 0, 113, 0], 24],
  [[224, 0, 0, 0], 3],
]

const PRIVATE_V6: ReadonlyArray<Subnet6> = [
  ["::", 127],
  // A translator inside the network, whose own addresses may lead anywhere.
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["100:0:0:1::", 64],
  // Teredo.
  ["2001::", 32],
  // Benchmarks.
  ["2001:2::", 48],
  // ORCHID.
  ["2001:10::", 28],
  ["2001:db8::", 32],
  ["3fff::", 20],
  // Segment identifiers.
  ["5f00::", 16],
  ["fc00::", 7],
  ["fec0::", 10],
  ["ff00::", 8],
]

const blockListOf = (v4: ReadonlyArray<Subnet4>, v6: ReadonlyArray<Subnet6>): BlockList => {
  const list = new BlockList()
  for (const [network, prefix] of v4) list.addSubnet(network.join("."), prefix, "ipv4")
  for (const [network, prefix] of v6) list.addSubnet(network, prefix, "ipv6")
  return list
}

const metadata = blockListOf(METADATA_V4, METADATA_V6)
const metadataAndPrivate = blockListOf([...METADATA_V4, ...PRIVATE_V4], [...METADATA_V6, ...PRIVATE_V6])

/** Which addresses may not be called. */
export interface TargetPolicy {
  /** Refuses private addresses too, loopback included (SERVICE_DENY_PRIVATE_TARGETS, docs/rules.md#targets). */
  readonly denyPrivateTargets: boolean
}

/**
 * Whether an IP address must not be called: link-local and cloud metadata addresses, in every form that leads to them,
 * and private ones where the policy says so (docs/rules.md#targets). What is no IP address is refused.
 */
export const isRefusedAddress = (address: string, policy: TargetPolicy): boolean => {
  // Also with the interface that getaddrinfo may name: fe80::1%eth0.
  const version = isIP(address)
  const list = policy.denyPrivateTargets ? metadataAndPrivate : metadata
  if (version !== 6) return version === 0 || list.check(address, "ipv4")
  return list.check(address, "ipv6") || embeddedIpv4(address).some((inner) => list.check(inner, "ipv4"))
}
