/** A way to write an IPv4 address within an IPv6 one. */
interface Embedding {
  /** What the IPv6 address begins with, in hexadecimal digits. */
  readonly prefix: string
  /** Where the bytes of the IPv4 address stand. */
  readonly bytes: readonly [number, number, number, number]
  /** Whether they are inverted. */
  readonly isInverted?: true
}

const LAST = [12, 13, 14, 15] as const

/** Every embedding that leads somewhere; networks choose the lengths of their own NAT64 prefixes (RFC 6052, RFC 8215). */
const EMBEDDINGS: ReadonlyArray<Embedding> = [
  // Compatible, mapped, and translated (SIIT).
  { prefix: "000000000000000000000000", bytes: LAST },
  { prefix: "00000000000000000000ffff", bytes: LAST },
  { prefix: "0000000000000000ffff0000", bytes: LAST },
  // NAT64, and that of a network itself with prefixes of 48, 56, 64 and 96 bits.
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

const DIGITS_OF_GROUP = 4
const GROUPS = 8

/** The groups of one side of `::`; an IPv4 tail is two of them. */
const groupsOf = (side: string): ReadonlyArray<string> => {
  if (side === "") return []
  return side.split(":").flatMap((group) => {
    if (!group.includes(".")) return [group.padStart(DIGITS_OF_GROUP, "0")]
    const [a, b, c, d] = group.split(".").map((part) => Number(part).toString(16).padStart(2, "0"))
    return [`${a}${b}`, `${c}${d}`]
  })
}

/** All 32 hexadecimal digits of an IPv6 address. */
const digitsOf = (address: string): string => {
  const [plain = ""] = address.toLowerCase().split("%")
  const [head = "", tail] = plain.split("::")
  const left = groupsOf(head)
  const right = groupsOf(tail ?? "")
  const zeros = Array.from({ length: GROUPS - left.length - right.length }, () => "0000")
  return [...left, ...zeros, ...right].join("")
}

/** The IPv4 addresses to which an IPv6 address may lead. */
export const embeddedIpv4 = (address: string): ReadonlyArray<string> => {
  const digits = digitsOf(address)
  const byteAt = (at: number): number => Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16)
  return EMBEDDINGS.filter(({ prefix }) => digits.startsWith(prefix)).map(({ bytes, isInverted = false }) =>
    bytes.map((at) => (isInverted ? 255 - byteAt(at) : byteAt(at))).join("."),
  )
}
