import dns from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import type { ProbeTargets } from "../probes/Probe.ts"
import type { reachedBy } from "./PlaceRules.ts"

/** Why a place reaches no address of a host, for the operator of its server. */
export const notAllowed = (host: string): string =>
  `${host} may not be reached from this place: its configuration allows it under place.allow`

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
