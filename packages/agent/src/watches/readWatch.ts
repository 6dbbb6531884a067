import { boundedMillis, durationExpected } from "@tocsin/contract/formats/durationMillis"
import { PAGE_ADDRESS, SOCKET_ADDRESS } from "@tocsin/contract/watches/watchOfAddress"
import { BOUNDS, TIMES, watchOptions } from "@tocsin/contract/watches/watchOptions"
import { integer, type Place, type Reader, record, refused } from "../config/Reader.ts"
import { dns } from "../probes/dns.ts"
import { http } from "../probes/http.ts"
import { ping } from "../probes/ping.ts"
import type { ProbeConfig } from "../probes/Probe.ts"
import { tcp } from "../probes/tcp.ts"
import { tls } from "../probes/tls.ts"
import { websocket } from "../probes/websocket.ts"

export type WatchKind = keyof typeof watchOptions

const PROBES: Readonly<Record<WatchKind, Reader<ProbeConfig>>> = { http, tcp, tls, dns, ping, websocket }

const duration =
  (bounds: typeof TIMES.timeout | typeof TIMES.time): Reader<unknown> =>
  (value, place) =>
    boundedMillis(value, bounds) ?? refused(place, `must be ${durationExpected(bounds)}`)

const wholeDays = integer(BOUNDS.days)
const bound = duration(TIMES.time)

/** Options of which the agent's own probes take more than watches do. */
const NARROWER: Readonly<Record<string, Reader<unknown>>> = {
  timeout: duration(TIMES.timeout),
  time: record({ warning: bound, critical: bound }),
  days: record({ warning: wholeDays, critical: wholeDays }),
}

/** The options of a watch as the agent's probes have them: fewer days than these are bad. */
const optionsOf = ({
  days,
  timeout,
  ...options
}: {
  readonly timeout?: unknown
  readonly days?: unknown
}) => ({
  ...options,
  ...(days !== undefined && {
    days: Object.fromEntries(Object.entries(Object(days)).map(([name, least]) => [name, `${least}:`])),
  }),
  ...(timeout !== undefined && { wait: timeout }),
})

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
  for (const [name, value] of Object.entries(options)) {
    const at = { ...place, path: [name] }
    if (!watchOptions[kind].includes(name)) refused(at, "is no option of watches")
    // In a configuration, a key without a value is an empty one.
    else if (value === null) refused(at, "must not be null")
    else NARROWER[name]?.(value, at)
  }
  const probe = problems.length === 0 ? PROBES[kind](optionsOf(options), place) : undefined
  const { url }: { readonly url?: unknown } = options
  const isPlain = [PAGE_ADDRESS, SOCKET_ADDRESS].some((form) => form.test(String(url)))
  // The agent's own probes take one.
  if (url !== undefined && problems.length === 0 && !isPlain)
    place.refuse("must not contain a user: use auth", ["url"])
  return probe === undefined || problems.length > 0 ? { problem: problems.join("; ") } : { probe }
}
