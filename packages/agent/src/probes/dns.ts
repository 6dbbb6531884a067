import { addressOfServer, DNS_NAME, isNameServer, NAME_SERVER_RULE } from "@tocsin/contract/formats/hosts"
import { LONGEST, MOST, RECORD_TYPES } from "@tocsin/contract/watches/watchOptions"
import { isIP, SocketAddress } from "node:net"
import {
  checked,
  codeOf,
  oneOf,
  oneOrMore,
  type ReadBy,
  type Reader,
  record,
  refused,
  text,
} from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { critical, figure, probe, type ProbeAround } from "./Probe.ts"
import { plainName, secondsText, timed, wait, WAIT_MILLIS } from "./network.ts"
import { judgeOptions, timeFields, timeOf } from "./expectation.ts"
import { thresholdFields } from "./thresholds.ts"

/** A name would need a name server itself. */
const nameServer: Reader<string> = (value, place) =>
  typeof value === "string" && isNameServer(value) ? value : refused(place, NAME_SERVER_RULE)

const fields = {
  name: text({ max: LONGEST.name, form: DNS_NAME, expected: "a name such as shop.example" }),
  type: oneOf(...RECORD_TYPES),
  servers: oneOrMore(nameServer, MOST.servers),
  expect: oneOrMore(text({ max: LONGEST.value }), MOST.records),
  wait,
  ...thresholdFields,
  ...timeFields,
}

/** Answers that say nothing of the name. After these, but for broken ones, the resolver of a host asks its next server. */
const WORDS: Readonly<Record<string, string>> = {
  EREFUSED: "the name server refuses the question",
  ESERVFAIL: "the name server failed to find the answer",
  ENOTIMP: "the name server answers no such questions",
  EFORMERR: "the name server does not understand the question",
  EBADRESP: "the answer of the name server is broken",
  ETIMEOUT: "the name server does not answer",
  ECONNREFUSED: "no name server listens at its address",
}
const HAS_NEXT: ReadonlySet<string> = new Set(Object.keys(WORDS).filter((code) => code !== "EBADRESP"))

const explainAnswer = (error: unknown): string => {
  const words = WORDS[codeOf(error)]
  return words === undefined ? explainError(error) : `${words} (${codeOf(error)})`
}

interface Question extends Pick<ProbeAround, "clock" | "signal"> {
  readonly name: string
  readonly type: ReadBy<typeof fields.type>
  readonly millis: number
}

/** As long as the resolver of a host waits for one of its servers. */
const LONGEST_SHARE = 5_000

/** The records of a name by these servers, or by those of the host, each of which has its share of the time. */
const resolved = async ({ name, type, millis, clock, signal }: Question, servers?: ReadonlyArray<string>) => {
  const { Resolver } = await import("node:dns/promises")
  const end = clock.steady() + millis
  const hosts = servers === undefined ? new Resolver().getServers() : []
  const share = Math.ceil(millis / Math.max(1, servers?.length ?? hosts.length))
  const ask = async (by: ReadonlyArray<string>, longest: number): Promise<unknown> => {
    const begun = clock.steady()
    const rest = Math.max(1, Math.ceil(Math.min(longest, end - begun)))
    const resolver = new Resolver({ timeout: rest, tries: 1 })
    const cancel = () => resolver.cancel()
    const late = setTimeout(cancel, Math.max(1, end - begun))
    signal.addEventListener("abort", cancel)
    resolver.setServers(by)
    try {
      return await resolver.resolve(name, type).catch((error: unknown) => {
        // The resolver counts a standstill, after which it is asked again.
        if (codeOf(error) === "ETIMEOUT" && clock.steady() - begun < rest / 2)
          return resolver.resolve(name, type)
        throw error
      })
    } catch (error) {
      // A timer may fire before the clock shows its time.
      const isLate = codeOf(error) === "ECANCELLED" && !signal.aborted
      throw isLate ? Object.assign(new Error("late"), { code: "ETIMEOUT" }) : error
    } finally {
      clearTimeout(late)
      signal.removeEventListener("abort", cancel)
    }
  }
  if (servers !== undefined) return await ask(servers, share)
  let first: unknown
  for (const host of hosts) {
    if (first !== undefined && clock.steady() >= end) break
    try {
      return await ask([host], Math.min(share, LONGEST_SHARE))
    } catch (error) {
      // The resolver of Node.js takes a refusal for the answer of all servers.
      if (!HAS_NEXT.has(codeOf(error))) throw error
      first ??= error
    }
  }
  throw first
}

/** A domain without mail, or without a service, says so by a record with an empty name. */
const REFUSALS: Readonly<Record<string, string>> = {
  MX: "the domain takes no mail",
  SRV: "the domain has no such service",
}

/** Resolves a name, and looks for the expected records; thresholds are seconds. */
export const dns = probe(
  { name: "dns", lane: "network" },
  checked(record(fields, ["name"]), judgeOptions("dns")),
  async (
    { name, type = "A", servers, expect = [], wait: millis = WAIT_MILLIS, ...times },
    { clock, signal, targets },
  ) => {
    const asked = `${name} ${type}`
    const lacking = `${asked}: no ${type} record`
    try {
      for (const server of servers ?? []) {
        const refusal = targets?.refusalOf(addressOfServer(server))
        if (refusal !== undefined) return critical(`${asked}: ${server} ${refusal}`)
      }
      const question = { name, type, millis, clock, signal }
      const { value, seconds } = await timed(clock, () => resolved(question, servers))
      const found = recordsOf(value)
      if (found.some((one) => targets?.refusesAnswer?.(one, name))) return critical(`${asked}: refused`)
      // Asked for an alias, the resolver answers with the name itself where there is none.
      const hasNone = type === "CNAME" && found.every((one) => plainName(one) === plainName(name))
      if (found.length === 0 || hasNone) return critical(lacking)
      const refusal = found.every((one) => one.endsWith(" .")) ? REFUSALS[type] : undefined
      const answer = refusal === undefined ? found.join(", ") : `${refusal} (${found.join(", ")})`
      if (refusal !== undefined && expect.length === 0) return critical(`${asked}: ${answer}`)
      const known = new Set(found.map((one) => comparable(one, type)))
      const isFound = (one: string) => known.has(one) || known.has(comparable(unquoted(one), type))
      const missing = expect.filter((one) => !isFound(one))
      const lacks = `${asked} lacks ${missing.join(", ")}: ${answer}`
      const words = `${asked} ${found.join(", ")} in ${secondsText(seconds)}`
      return missing.length === 0
        ? figure(timeOf(seconds, times, words))
        : { ...critical(lacks), measures: [timeOf(seconds, times, "")] }
    } catch (error) {
      if (codeOf(error) === "ENOTFOUND") return critical(`${asked}: there is no such name`)
      // Of an SOA record, the resolver reads an answer without one as a broken answer.
      const hasNone = ["ENODATA", type === "SOA" ? "EBADRESP" : ""].includes(codeOf(error))
      return critical(hasNone ? lacking : `${asked}: ${explainAnswer(error)}`)
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
    // The root is the empty name.
    return FIELDS.flatMap((name) => values.get(name) ?? [])
      .join(" ")
      .replace(/ $/, " .")
  })
