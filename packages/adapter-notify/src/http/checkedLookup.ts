import { lookup, type LookupAddress, type LookupAllOptions } from "node:dns"
import type { LookupFunction } from "node:net"
import { Context } from "effect"
import { isRefusedAddress, type TargetPolicy } from "./RefusedAddresses.ts"

/** Resolves a name to all its addresses, as `node:dns` does. */
export type ResolveName = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: ReadonlyArray<LookupAddress>) => void,
) => void

/**
 * Asks for a name that is being looked up no second time: all who wait get the answer, and who comes
 * later asks again. A name whose server is silent holds a thread of libuv for ten seconds and more,
 * and a lookup outlives its attempt, so attempts and their retries would take them all. The options
 * of all callers must be equal.
 */
export const sharedLookup = (resolve: ResolveName): ResolveName => {
  const underWay = new Map<string, Array<Parameters<ResolveName>[2]>>()
  return (hostname, options, callback) => {
    const waiting = underWay.get(hostname)
    if (waiting !== undefined) return void waiting.push(callback)
    const callbacks = [callback]
    underWay.set(hostname, callbacks)
    resolve(hostname, options, (error, addresses) => {
      underWay.delete(hostname)
      for (const answer of callbacks) answer(error, addresses)
    })
  }
}

/** The resolver of target names: the system's, shared by all targets, unless another is provided. */
export const NameLookup = Context.Reference<ResolveName>("@tocsin/adapter-notify/http/NameLookup", {
  defaultValue: () => sharedLookup((hostname, options, callback) => lookup(hostname, options, callback)),
})

/** `code` of the error for a name whose addresses are all refused. */
export const TARGET_REFUSED = "ERR_TARGET_REFUSED"

class TargetRefused extends Error {
  readonly code = TARGET_REFUSED
}

/**
 * A lookup for sockets that returns allowed addresses only. The socket connects to exactly these,
 * so a name that changes between check and use gains nothing (DNS rebinding).
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
