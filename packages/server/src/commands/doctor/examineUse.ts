import * as Instant from "@tocsin/contract/formats/Instant"
import { NEVER_MARKED } from "@tocsin/core/kernel/model/ServiceHeartbeatRecord"
import { Duration } from "effect"
import { ageText } from "../../output/texts.ts"
import { attention, failed, type Finding, type Findings, ok } from "./Finding.ts"

/** The traces of servers in a storage. */
export interface Use {
  /** A server's last service heartbeat. */
  readonly serviceHeartbeatAt: Instant.Instant | undefined
  readonly pepperCheck: string | undefined
}

/** `pepperCheck` is that of the settings. */
export interface Asked {
  readonly now: Instant.Instant
  readonly pepperCheck: string
}

/** The servers of a storage, and the pepper that they have. */
export const examineUse = (
  { serviceHeartbeatAt, pepperCheck: kept }: Use,
  { now, pepperCheck }: Asked,
): Findings => [
  heartbeatFinding(serviceHeartbeatAt, now),
  kept === undefined || kept === pepperCheck
    ? ok("pepper", kept === undefined ? "not in use yet" : "the one that agent keys were hashed with")
    : failed(
        "pepper",
        "SERVICE_KEY_PEPPER differs from the value this storage was first used with: set the original value (or unset it if there was none)",
        "usage",
      ),
]

const heartbeatFinding = (serviceHeartbeatAt: Instant.Instant | undefined, now: Instant.Instant): Finding => {
  const check = "server"
  if (serviceHeartbeatAt === undefined || serviceHeartbeatAt === NEVER_MARKED)
    return ok(check, "none has run on it yet")
  const age = ageText(serviceHeartbeatAt, now)
  if (serviceHeartbeatAt > now + CLOCK_TOLERANCE_MICROS) {
    return attention(
      check,
      `its last service heartbeat is in the future (${age}): synchronize this machine's clock with NTP`,
    )
  }
  return serviceHeartbeatAt < Instant.minus(now, SILENT_AFTER)
    ? attention(check, `last service heartbeat ${age}: start the server; if it is running, see its log`)
    : ok(check, `last service heartbeat ${age}; a running server gives one every 5 s`)
}

/** Twelve missed signs of life. */
const SILENT_AFTER = Duration.minutes(1)

// The clock of the server may be a little ahead of this one.
const CLOCK_TOLERANCE_MICROS = 5_000_000n
