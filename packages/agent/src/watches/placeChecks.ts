import { boundedMillis } from "@tocsin/contract/formats/durationMillis"
import { type ProbeSecrets, secretNames, secretsOf } from "@tocsin/contract/watches/watchSecrets"
import { PLACE_CHECKS, TIMES, watchOptions, writingOption } from "@tocsin/contract/watches/watchOptions"
import { fieldsOf } from "@tocsin/reporting/agent/Answer"
import type { RunCheck } from "../config/readConfig.ts"
import { type ProbeConfig, type ProbeTargets, unknownFinding } from "../probes/Probe.ts"
import { type PlaceRules, reachedBy } from "./PlaceRules.ts"
import { readWatch, type WatchKind } from "./readWatch.ts"
import { outputOfWatch } from "./secretTexts.ts"
import dns from "node:dns"
import { isIP, type LookupFunction } from "node:net"

/** Why a place reaches no address of a host, for the operator of its server. */
const notAllowed = (host: string): string =>
  `${host} may not be reached from this place: to allow it, add it to place.allow in the agent's configuration`

/** The targets of one run, by the rules of the place, and what they refused. */
export const placeTargets = ({ mayReach }: ReturnType<typeof reachedBy>, resolve = dns.lookup) => {
  let refused: string | undefined
  const refuse = (host: string): string => {
    refused = notAllowed(host)
    return "may not be reached from this place"
  }
  const lookup: LookupFunction = (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [])
      const allowed = found.filter(({ address }) => mayReach(address, hostname))
      const [first] = allowed
      if (first === undefined) return callback(new Error(`${hostname} ${refuse(hostname)}`), [])
      return options.all === true ? callback(null, allowed) : callback(null, first.address, first.family)
    })
  const targets: ProbeTargets = {
    lookup,
    refusalOf: (address) => (mayReach(address) ? undefined : refuse(address)),
    refusesAnswer: (record, name) => {
      const isRefused = record.split(" ").some((word) => isIP(word) !== 0 && !mayReach(word, name))
      if (isRefused) refused = "the name leads to an address that may not be reached from this place"
      return isRefused
    },
  }
  return { targets, refused: () => refused }
}

const NAME = /^[A-Za-z0-9._:-]{1,122}$/
const MOST_WATCHES = 200
/** Refused ones are reported, too. */
const MOST_REPORTED = 1_000
/** A probe ends by its own limit, which is shorter. */
const LONGEST_RUN = 60_000
const TERMS: ReadonlySet<string> = new Set(["name", "every", "confirm", "secrets"])

type Fields = Readonly<Record<string, unknown>>

const isKind = (name: string): name is WatchKind => Object.hasOwn(watchOptions, name)

/** A watch that was read, or why it is refused. */
type Read = { readonly refusal: string } | { readonly probe: ProbeConfig; readonly secrets: ProbeSecrets }

/** Reads a watch. The server may have been taken over, so nothing beyond the options of watches is run. */
const readAsked = (watch: Fields, { writes, ...rules }: PlaceRules): Read => {
  const kinds = Object.keys(watch).filter((name) => !TERMS.has(name))
  const [kind = ""] = kinds
  if (kinds.length !== 1 || !isKind(kind)) return { refusal: "it must have exactly one probe of watches" }
  const options = fieldsOf(watch[kind])
  const every = boundedMillis(watch["every"])
  if (every === undefined || every < TIMES.every.min) return { refusal: "every must be at least 10s" }
  const read = readWatch(kind, options)
  if ("problem" in read) return { refusal: read.problem }
  const secrets: ProbeSecrets = secretsOf({ [kind]: options }) ?? {}
  const came = new Set(secretNames(secrets))
  const missing = [watch["secrets"] ?? []].flat().filter((name) => !came.has(String(name)))
  if (missing.length > 0)
    return {
      refusal: `its secrets did not come (${missing.join(", ")}): the agent needs https to its server`,
    }
  const written = writingOption(options)
  if (!writes && written !== undefined)
    return { refusal: `${kind}.${written} needs place.writes: true in the agent's configuration` }
  const name = String(options["name"])
  if (kind === "dns" && !reachedBy(rules).mayResolve(name)) return { refusal: notAllowed(name) }
  return { ...read, secrets }
}

const probeOf = (read: Read, rules: PlaceRules): ProbeConfig => {
  if ("refusal" in read)
    return { name: "place", lane: "network", settings: {}, run: async () => unknownFinding(read.refusal) }
  const reached = reachedBy(rules)
  return {
    ...read.probe,
    run: async (around) => {
      const { refused, targets } = placeTargets(reached)
      const found = await read.probe.run({ ...around, targets })
      const refusal = refused()
      // The finding of a refused probe says nothing about the target.
      return refusal === undefined ? found : unknownFinding(refusal)
    },
  }
}

/** A check that a place runs, and its secrets, which its outputs must not show. */
interface PlaceCheck extends RunCheck {
  readonly secrets: ProbeSecrets
}

const checkOf = (watch: Fields, read: Read, rules: PlaceRules): PlaceCheck => ({
  kind: "run",
  id: `${PLACE_CHECKS}${String(watch["name"])}`,
  incidentKey: undefined,
  notificationsEnabled: true,
  graceMillis: undefined,
  severity: undefined,
  incident: undefined,
  labels: new Map(),
  everyMillis: Math.max(boundedMillis(watch["every"]) ?? 0, TIMES.every.min),
  work: { kind: "probe", probe: probeOf(read, rules) },
  timeoutMillis: LONGEST_RUN,
  env: new Map(),
  confirm: undefined,
  numbers: undefined,
  secrets: "refusal" in read ? {} : read.secrets,
})

/** The checks of the watches that a server asks a place to probe; refused ones are unknown. */
export const placeChecks = (
  items: ReadonlyArray<unknown>,
  rules: PlaceRules,
): ReadonlyMap<string, PlaceCheck> => {
  const watches = items.map(fieldsOf).filter(({ name }) => typeof name === "string" && NAME.test(name))
  const byName = watches.toSorted((a, b) => (String(a["name"]) < String(b["name"]) ? -1 : 1))
  const checks = byName.slice(0, MOST_REPORTED).map((watch, n): PlaceCheck => {
    const read: Read =
      n < MOST_WATCHES
        ? readAsked(watch, rules)
        : { refusal: `a place probes at most ${MOST_WATCHES} watches` }
    return checkOf(watch, read, rules)
  })
  return new Map(checks.map((check) => [check.id, check]))
}

/** The output of a place's check, in the form that the server stores for its own checks. */
export const placeOutput = ({ secrets }: PlaceCheck, output: string): string => outputOfWatch(output, secrets)
