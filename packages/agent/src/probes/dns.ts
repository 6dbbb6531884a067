import { DNS_NAME } from "@tocsin/contract/hosts"
import { isIP, SocketAddress } from "node:net"
import { codeOf, oneOf, oneOrMore, type Reader, record, refused, text } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { critical, figure, plainName, probe, secondsText, timed, wait, WAIT_MILLIS } from "./Probe.ts"
import { thresholdFields } from "./thresholds.ts"

/** A name would need a name server itself. */
const nameServer: Reader<string> = (value, place) => {
  try {
    const { Resolver } = process.getBuiltinModule("node:dns")
    new Resolver().setServers([String(value)])
    return String(value)
  } catch {
    return refused(place, "must be an address such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:5353")
  }
}

const fields = {
  name: text({ max: 253, form: DNS_NAME, expected: "a name such as shop.example" }),
  type: oneOf("A", "AAAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT"),
  servers: oneOrMore(nameServer, 10),
  expect: oneOrMore(text({ max: 1_024 }), 100),
  wait,
  ...thresholdFields,
}

/** Resolves a name, and looks for the expected records; thresholds are seconds. */
export const dns = probe(
  { name: "dns", lane: "network" },
  record(fields, ["name"]),
  async (
    { name, type = "A", servers, expect = [], wait: millis = WAIT_MILLIS, ...thresholds },
    { clock, signal },
  ) => {
    const { Resolver } = await import("node:dns/promises")
    const resolver = new Resolver({ timeout: millis, tries: 1 })
    signal.addEventListener("abort", () => resolver.cancel())
    const asked = `${name} ${type}`
    const lacking = `${asked}: no ${type} record`
    try {
      if (servers !== undefined) resolver.setServers(servers)
      const { value, seconds } = await timed(clock, async () => {
        const begun = clock.steady()
        return await resolver.resolve(name, type).catch((error: unknown) => {
          // The resolver counts a standstill, after which it is asked again.
          if (codeOf(error) === "ETIMEOUT" && clock.steady() - begun < millis / 2)
            return resolver.resolve(name, type)
          throw error
        })
      })
      // A domain that takes no mail, or has no service, says so with an empty name.
      const found = recordsOf(value).filter((one) => !["MX", "SRV"].includes(type) || !one.endsWith(" "))
      // Asked for an alias, the resolver answers with the name itself where there is none.
      const hasNone = type === "CNAME" && found.every((one) => plainName(one) === plainName(name))
      if (found.length === 0 || hasNone) return critical(lacking)
      const known = new Set(found.map((one) => comparable(one, type)))
      const isFound = (one: string) => known.has(one) || known.has(comparable(unquoted(one), type))
      const missing = expect.filter((one) => !isFound(one))
      const lacks = `${asked} lacks ${missing.join(", ")}: ${found.join(", ")}`
      const words = `${asked} ${found.join(", ")} in ${secondsText(seconds)}`
      return {
        ...figure({ label: "time", value: seconds, unit: "s", thresholds, words }),
        faults: missing.length === 0 ? [] : [{ status: "critical", words: lacks }],
      }
    } catch (error) {
      if (codeOf(error) === "ENOTFOUND") return critical(`${asked}: there is no such name`)
      // Of an SOA record, the resolver reads an answer without one as a broken answer.
      const hasNone = ["ENODATA", type === "SOA" ? "EBADRESP" : ""].includes(codeOf(error))
      return critical(hasNone ? lacking : `${asked}: ${explainError(error)}`)
    }
  },
)

/** A record in one of its notations: the case of a name means nothing, nor does the dot at its end. */
const comparable = (written: string, type: string): string => {
  if (type === "TXT") return written
  const family = isIP(written) === 6 ? "ipv6" : "ipv4"
  if (isIP(written) !== 0) return new SocketAddress({ address: written, family }).address
  return written.split(" ").map(plainName).join(" ")
}

const QUOTED = /"((?:\\.|[^"\\])*)"\s*/g

/** A text that is written as in zone files: in quotes, in one part or several. */
const unquoted = (written: string): string =>
  written.replaceAll(QUOTED, "") === ""
    ? written.replaceAll(QUOTED, "$1").replaceAll(/\\(.)/g, "$1")
    : written

/** The fields of MX, SRV and SOA, as zone files order them. */
const FIELDS =
  "nsname hostmaster serial refresh retry expire minttl priority weight port exchange name".split(" ")

/** Records as people write them: a text joins its parts. */
const recordsOf = (found: unknown): ReadonlyArray<string> =>
  (Array.isArray(found) ? found : [found]).map((one: unknown) => {
    // The resolver reads the bytes of a text as Latin-1.
    if (Array.isArray(one)) return Buffer.from(one.join(""), "latin1").toString()
    if (typeof one !== "object" || one === null) return String(one)
    const values = new Map<string, unknown>(Object.entries(one))
    return FIELDS.flatMap((name) => values.get(name) ?? []).join(" ")
  })
