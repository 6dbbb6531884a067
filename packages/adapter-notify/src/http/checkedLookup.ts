import type { LookupFunction } from "node:net"
import type { ResolveName } from "./NameLookup.ts"
import { isRefusedAddress, type TargetPolicy } from "./RefusedAddresses.ts"

/** `code` of the error of a connection whose name leads nowhere but to refused addresses. */
export const TARGET_REFUSED = "ERR_TARGET_REFUSED"

class TargetRefused extends Error {
  readonly code = TARGET_REFUSED
}

/**
 * A lookup for sockets that hands out allowed addresses only. The socket connects to exactly these without asking again, so
 * a name that changes its address between check and use gains nothing (DNS rebinding).
 */
export const checkedLookup =
  (resolve: ResolveName, policy: TargetPolicy): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      const allowed = addresses.filter(({ address }) => !isRefusedAddress(address, policy))
      const first = allowed[0]
      if (first === undefined) return callback(new TargetRefused("no allowed address"), [])
      return options.all === true ? callback(null, allowed) : callback(null, first.address, first.family)
    })
