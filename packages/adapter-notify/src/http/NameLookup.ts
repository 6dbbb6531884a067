import { lookup, type LookupAddress, type LookupAllOptions } from "node:dns"
import { Context } from "effect"

/** Resolves a name to all of its addresses, as `node:dns` does. */
export type ResolveName = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: ReadonlyArray<LookupAddress>) => void,
) => void

/** How the names of targets are resolved; the system's resolver unless one is provided. */
export const NameLookup = Context.Reference<ResolveName>("@tocsin/adapter-notify/http/NameLookup", {
  defaultValue: () => (hostname, options, callback) => lookup(hostname, options, callback),
})
