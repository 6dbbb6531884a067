import { PAGE_ADDRESS, SOCKET_ADDRESS } from "@tocsin/contract/watches/watchOfAddress"
import type { watchOptions } from "@tocsin/contract/watches/watchOptions"
import type { Place, Reader } from "../config/Reader.ts"
import { dns } from "../probes/dns.ts"
import { http } from "../probes/http.ts"
import { ping } from "../probes/ping.ts"
import type { ProbeConfig } from "../probes/Probe.ts"
import { tcp } from "../probes/tcp.ts"
import { tls } from "../probes/tls.ts"
import { websocket } from "../probes/websocket.ts"

export type WatchKind = keyof typeof watchOptions

const PROBES: Readonly<Record<WatchKind, Reader<ProbeConfig>>> = { http, tcp, tls, dns, ping, websocket }

/** Days that are left, as a range of the agent: fewer are bad. */
const rangesOf = (days: object): object =>
  Object.fromEntries(Object.entries(days).map(([name, least]) => [name, `${least}:`]))

/** The options of a watch as the agent's probes have them. */
const optionsOf = ({
  days,
  timeout,
  ...options
}: {
  readonly timeout?: unknown
  readonly days?: object
}): object => ({
  ...options,
  ...(days !== undefined && { days: rangesOf(days) }),
  ...(timeout !== undefined && { wait: timeout }),
})

/** Where an address may not have a user, which the agent's own probes take. */
const ADDRESSES: { readonly [Kind in WatchKind]?: RegExp } = { http: PAGE_ADDRESS, websocket: SOCKET_ADDRESS }

/** The probe of a watch, or what is wrong with its options. */
export const readWatch = (
  kind: WatchKind,
  options: object,
): { readonly probe: ProbeConfig } | { readonly problem: string } => {
  const problems: Array<string> = []
  const place: Place = {
    path: [],
    refuse: (message, path = []) => void problems.push(`${[kind, ...path].join(".")} ${message}`),
  }
  const probe = PROBES[kind](optionsOf(options), place)
  if (probe === undefined || problems.length > 0) return { problem: problems.join("; ") }
  const { url }: { readonly url?: unknown } = options
  const isPlain = ADDRESSES[kind]?.test(String(url)) ?? true
  return isPlain ? { probe } : { problem: `${kind}.url must not contain a user: use auth` }
}
