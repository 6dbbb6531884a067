import { isIP } from "node:net"
import { isRefusedAddress, OWN_MACHINE, type TargetPolicy } from "@tocsin/adapter-notify/http/Target"
import type { FieldProblem } from "@tocsin/contract/describeIssue"
import { withoutBrackets } from "@tocsin/contract/hosts"
import type { WatchProbe } from "@tocsin/contract/Watches"
import type { Settings } from "./settings/Settings.ts"

/** The targets that the settings allow for watches (docs/rules.md#watches). */
export const watchTargets = (settings: Partial<Settings>): TargetPolicy => ({
  denyPrivateTargets: settings.SERVICE_DENY_PRIVATE_TARGETS ?? false,
  denyLoopback: settings.SERVICE_WATCH_LOOPBACK !== true,
})

/** Why a watch must not connect to an IP address; `undefined` if it may. */
export const refusalOf = (address: string, policy: TargetPolicy): string | undefined => {
  if (!isRefusedAddress(address, policy)) return undefined
  if (isRefusedAddress(address, { denyPrivateTargets: false }))
    return "is a link-local or metadata address, which no watch may reach"
  return policy.denyPrivateTargets ? "is not public, and SERVICE_DENY_PRIVATE_TARGETS is set" : OWN_MACHINE
}

/** Names that stand for the machine itself (RFC 6761). */
const LOCALHOST = /^(?:.*\.)?localhost\.?$/iu

/** The target of a watch, in the one way to write an address, and the field that names it. */
const targetOf = ({ http, tcp, tls }: WatchProbe) => {
  const [path, host = ""] =
    http === undefined
      ? [[tcp === undefined ? "tls" : "tcp", "host"], (tcp ?? tls)?.host]
      : [["http", "url"], URL.parse(http.url)?.hostname]
  const plain = URL.parse(`http://${isIP(host) === 6 ? `[${host}]` : host}`)?.hostname ?? host
  return { path, address: LOCALHOST.test(plain) ? "127.0.0.1" : withoutBrackets(plain) }
}

/** The problem of a watch whose target is an address that it must not connect to. */
export const watchProblem =
  (policy: TargetPolicy) =>
  (watch: WatchProbe): FieldProblem | undefined => {
    const { address, path } = targetOf(watch)
    const message = isIP(address) === 0 ? undefined : refusalOf(address, policy)
    return message === undefined ? undefined : { path, message }
  }
