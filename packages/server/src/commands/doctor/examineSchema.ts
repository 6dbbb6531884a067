import * as Instant from "@tocsin/contract/Instant"
import { NEVER_MARKED } from "@tocsin/core/model/ServiceHeartbeatRecord"
import { Duration } from "effect"
import { ageText } from "../../output/texts.ts"
import { attention, failed, type Finding, type Findings, ok } from "./Finding.ts"

interface Content {
  /** How many migrations it went through; none if it is new. */
  readonly applied: number
  readonly known: number
  /** A server's last service heartbeat. */
  readonly serviceHeartbeatAt: Instant.Instant | undefined
  readonly pepperCheck: string | undefined
  /** Stored values that cannot be read. */
  readonly damaged: ReadonlyArray<string>
  /** Running totals that are not what the rows count. */
  readonly wrongTotals: ReadonlyArray<string>
}

/** The schema, servers and pepper of a storage. `pepperCheck` is that of the settings. */
export const examineSchema = (
  { applied, damaged, known, serviceHeartbeatAt, pepperCheck: kept, wrongTotals }: Content,
  { now, pepperCheck }: { readonly now: Instant.Instant; readonly pepperCheck: string },
): Findings => {
  if (applied === 0) {
    return [attention("schema", "no Tocsin data yet: start the server, or run tocsin migrate")]
  }
  const schema =
    applied < known
      ? attention(
          "schema",
          `at ${applied} of ${known}: start the server to upgrade it, or run tocsin migrate`,
        )
      : ok("schema", `at ${applied} of ${known}, which is current`)
  const server = serverFinding(serviceHeartbeatAt, now)
  const pepper =
    kept === undefined || kept === pepperCheck
      ? ok("pepper", kept === undefined ? "not in use yet" : "the one that agent keys were hashed with")
      : failed(
          "pepper",
          "SERVICE_KEY_PEPPER differs from the value this storage was first used with: set the original value (or unset it if there was none)",
          "usage",
        )
  const rows =
    damaged.length === 0
      ? ok("rows", "every stored list and object can be read")
      : attention(
          "rows",
          `no valid JSON, so read as empty: ${damaged.join(", ")}; correct or delete these rows`,
        )
  const totals =
    wrongTotals.length === 0
      ? ok("totals", "the summary's totals are those of the rows")
      : attention(
          "totals",
          `the summary is wrong: ${wrongTotals.join(", ")}; on PostgreSQL run SELECT recount_system_total(), on SQLite tocsin copy`,
        )
  return [schema, rows, totals, server, pepper]
}

const serverFinding = (serviceHeartbeatAt: Instant.Instant | undefined, now: Instant.Instant): Finding => {
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
