import { addressesIn, LOOPBACK, METADATA, networksOf, SPECIAL } from "@tocsin/contract/formats/addressRanges"
import { compileGlob } from "@tocsin/contract/formats/compileGlob"
import { withoutBrackets } from "@tocsin/contract/formats/hosts"
import net from "node:net"
import { flag, objectOr, oneOrMore, type Reader, record, refused, text } from "../config/Reader.ts"
import { plainName } from "../probes/network.ts"

/** The targets and methods that an agent allows its server (docs/rules.md#places). */
export interface PlaceRules {
  /** `public`, networks, addresses and patterns of host names. */
  readonly allow: ReadonlyArray<string>
  /** Whether probes may send more than questions. */
  readonly writes: boolean
}

const PUBLIC = "public"
const NETWORK = /^(?<address>[^/]*)\/(?<prefix>\d{1,3})$/
/** A pattern with `*` ends with two whole labels, so that it matches no whole top-level domain. */
const PATTERN = /^(?:[a-z0-9_*-]+\.)*[a-z0-9_-]+\.(?=\d*[a-z_-])[a-z0-9_-]+$/iu
const NAME = /^(?:[a-z0-9_-]+\.)*(?=\d*[a-z_-])[a-z0-9_-]+\.?$/iu

const isNever = addressesIn(net, METADATA)
const isLoopback = addressesIn(net, LOOPBACK)
const isSpecial = addressesIn(net, [...METADATA, ...SPECIAL])

/** A network, or an address as one; `undefined` for what looks like neither. */
const networkOf = (entry: string): string | undefined => {
  const { address = entry, prefix } = NETWORK.exec(entry)?.groups ?? {}
  const bits = net.isIP(address) === 6 ? 128 : 32
  return net.isIP(address) === 0 || Number(prefix ?? 0) > bits ? undefined : `${address}/${prefix ?? bits}`
}

const entry: Reader<string> = (value, place) => {
  const read = text({ max: 253 })(value, place)
  if (read === undefined || read === PUBLIC) return read
  const network = networkOf(read)
  if (network !== undefined)
    return isNever(network.split("/")[0] ?? "")
      ? refused(place, "has link-local or metadata addresses, which no place may reach: remove it")
      : read
  if (read.includes("/") || /^[\d.]+$|:/.test(read))
    return refused(place, "must be a network such as 10.0.0.0/8, or an address")
  if (read.includes("*") ? PATTERN.test(read) : NAME.test(plainName(read))) return read
  return refused(
    place,
    "must be public, a network, an address, or a name such as *.shop.example, whose last two labels have no *",
  )
}

const entries: Reader<ReadonlyArray<string>> = (value, place) =>
  Array.isArray(value) ? oneOrMore(entry, 100)(value, place) : refused(place, "must be a list")

const NONE = undefined

/** The key `place` of a configuration; `{ rules: undefined }` where the agent is none. */
export const placeRules: Reader<{ readonly rules: PlaceRules | undefined }> = objectOr(
  (value, place) => {
    const read = record({ allow: entries, writes: flag })(value, place)
    return read && { rules: { allow: read.allow ?? [PUBLIC], writes: read.writes ?? false } }
  },
  (value, place) => {
    const is = flag(value, place)
    return is === undefined ? undefined : { rules: is ? { allow: [PUBLIC], writes: false } : NONE }
  },
)

/** The targets of a place: addresses, of a name if they were found by one, and names to resolve. */
export const reachedBy = ({ allow }: Pick<PlaceRules, "allow">) => {
  const isPublic = allow.includes(PUBLIC)
  const networks = allow.flatMap((one) => networkOf(one) ?? [])
  const isInNetwork = networksOf(net, networks)
  const patterns = allow
    .filter((one) => one !== PUBLIC && networkOf(one) === undefined)
    .map((one) => compileGlob(one.includes("*") ? one.toLowerCase() : plainName(one)))
  const isNamed = (name: string): boolean =>
    patterns.some((matches) => matches(plainName(name).toLowerCase()))
  return {
    mayReach: (address: string, name?: string): boolean => {
      const plain = withoutBrackets(address).replace(/%.*/, "")
      if (net.isIP(plain) === 0 || isNever(plain)) return false
      if (isInNetwork(plain) || (isPublic && !isSpecial(plain))) return true
      return name !== undefined && isNamed(name) && !isLoopback(plain)
    },
    mayResolve: (name: string): boolean => isPublic || isNamed(name),
  }
}
