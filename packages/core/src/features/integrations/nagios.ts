import { Duration } from "effect"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { resultOf } from "./alerts.ts"
import { checkIdOf, hashedId, NOTHING_EXPECTED, type Report, unexplained } from "./Report.ts"

/** The statuses of the states 0 to 3 of a service. */
export const STATES = ["ok", "warning", "critical", "unknown"] as const satisfies ReadonlyArray<CheckStatus>

/** Stands for a service's name in the ID of a host's check. */
const OF_HOST = "host"

/** The check of a service or host. A colon in the host's name, or a service of that name, would leave open whose. */
const idOf = (host: string, service: string | undefined, sha256: (text: string) => string): CheckId => {
  const name = `${host.replaceAll(":", "_")}:${service ?? OF_HOST}`
  return host.includes(":") || service === OF_HOST
    ? hashedId(name, sha256(JSON.stringify([host, service])))
    : checkIdOf(name, sha256)
}

/** Results arrive within seconds. One that is older was kept somewhere. */
const LATE_AFTER = Duration.minutes(1)
const MILLIS = 1_000

const isSeconds = (seconds: number): boolean => seconds >= 1e9 && seconds < 1e10

interface Stated {
  readonly host: string
  /** Absent of a host itself. */
  readonly service: string | undefined
  readonly status: CheckStatus
  readonly text: string
  /** When it was found, in seconds since 1970, if the sender says so. */
  readonly seconds: number
  readonly expects?: Report["expects"]
}

/** A passive result of Nagios or Icinga. Ok creates a check, too; the output of a late one ends with its time. */
export const passiveResult = (
  { expects = NOTHING_EXPECTED, host, seconds, service, status, text }: Stated,
  { now, sha256 }: { readonly now: Instant.Instant; readonly sha256: (text: string) => string },
): Report => {
  const at = isSeconds(seconds) ? Instant.fromMillis(Math.floor(seconds * MILLIS)) : now
  const isLate = at < Instant.minus(now, LATE_AFTER)
  const late = isLate ? `checked ${Instant.momentText(at)}` : ""
  const shown = [text, late].filter((line) => line !== "").join("\n")
  return {
    ...resultOf(idOf(host, service, sha256), status, shown, expects),
    isOfKnownCheck: false,
    ...(status !== "ok" && unexplained(status)),
  }
}
