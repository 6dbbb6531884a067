import { isIP } from "node:net"
import { isRefusedAddress, type TargetPolicy } from "@tocsin/adapter-notify/http/Target"
import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"
import { addressOfServer, withoutBrackets } from "@tocsin/contract/formats/hosts"
import { writingOption } from "@tocsin/contract/watches/watchOptions"
import type { ProbeTarget } from "@tocsin/contract/watches/WatchProbe"
import type { Settings } from "../../settings/Settings.ts"

/** The targets of watches, as plain data. */
export interface WatchTargets extends TargetPolicy {
  /** Whether watches that only read reach the loopback all the same. */
  readonly opensReading: boolean
  /** Whether that is still to be had, by a setting. */
  readonly offersReading?: boolean
}

/** The targets that the settings allow for watches (docs/rules.md#watches). */
export const watchTargets = ({ stored, ...settings }: Partial<Settings>): WatchTargets => ({
  denyPrivateTargets: settings.SERVICE_DENY_PRIVATE_TARGETS ?? false,
  denyLoopback: settings.SERVICE_WATCH_LOOPBACK !== true,
  opensReading: settings.SERVICE_WATCH_LOOPBACK === undefined && stored?.watchLoopback === true,
  offersReading: settings.SERVICE_WATCH_LOOPBACK === undefined && stored?.watchLoopback !== true,
})

/** Whether a probe can change nothing where it goes. */
const isReading = ({ http, tcp, websocket }: ProbeTarget): boolean =>
  writingOption(http ?? tcp ?? websocket ?? {}) === undefined

type PolicyOfWatch = Omit<WatchTargets, "opensReading">

export const targetsFor = ({ opensReading, ...policy }: WatchTargets, watch: ProbeTarget): PolicyOfWatch =>
  opensReading && isReading(watch) ? { ...policy, denyLoopback: false } : policy

/** Why a watch must not connect to an IP address; `undefined` if it may. */
export const refusalOf = (address: string, policy: PolicyOfWatch): string | undefined => {
  if (!isRefusedAddress(address, policy)) return undefined
  if (isRefusedAddress(address, { denyPrivateTargets: false }))
    return "is a link-local or metadata address, which no watch may reach"
  if (policy.denyPrivateTargets) return "is not public, and SERVICE_DENY_PRIVATE_TARGETS is set"
  return policy.offersReading === true
    ? "leads to the server's own machine: allow probes that only read in Settings of the console, or by tocsin settings set watch_loopback true; for others, start the server with SERVICE_WATCH_LOOPBACK=true to allow it"
    : "leads to the server's own machine: start the server with SERVICE_WATCH_LOOPBACK=true to allow it"
}

/** Names that stand for the machine itself (RFC 6761). */
const LOCALHOST = /^(?:.*\.)?localhost\.?$/iu

/** The targets of a watch and the fields that name them. */
const targetsOf = ({
  dns,
  http,
  ping,
  tcp,
  tls,
  websocket,
}: ProbeTarget): ReadonlyArray<readonly [host: string | undefined, ...path: FieldProblem["path"]]> => {
  if (http !== undefined) return [[URL.parse(http.url)?.hostname, "http", "url"]]
  if (websocket !== undefined) return [[URL.parse(websocket.url)?.hostname, "websocket", "url"]]
  if (tcp !== undefined) return [[tcp.host, "tcp", "host"]]
  if (tls !== undefined) return [[tls.host, "tls", "host"]]
  if (ping !== undefined) return [[ping.host, "ping", "host"]]
  return (dns?.servers ?? []).map((server, n) => [addressOfServer(server), "dns", "servers", n] as const)
}

/** An address in the one way to write it. */
const plainOf = (host: string): string => {
  const plain = URL.parse(`http://${isIP(host) === 6 ? `[${host.replace(/%.*/, "")}]` : host}`)?.hostname
  return LOCALHOST.test(plain ?? host) ? "127.0.0.1" : withoutBrackets(plain ?? host)
}

/** The problem of a watch whose target is an address that it must not connect to. */
export const watchProblem =
  (targets: WatchTargets | (() => WatchTargets)) =>
  (watch: ProbeTarget): FieldProblem | undefined => {
    const policy = targetsFor(typeof targets === "function" ? targets() : targets, watch)
    for (const [host = "", ...path] of targetsOf(watch)) {
      const address = plainOf(host)
      const message = isIP(address) === 0 ? undefined : refusalOf(address, policy)
      if (message !== undefined) return { path, message }
    }
    return undefined
  }
