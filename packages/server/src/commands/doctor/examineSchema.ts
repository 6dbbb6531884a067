import * as Instant from "@tocsin/core/contract/Instant"
import { NEVER_MARKED } from "@tocsin/core/liveness/MarkRecord"
import { Duration } from "effect"
import { ageText } from "../../output/ageText.ts"
import { attention, failed, type Findings, ok } from "./Finding.ts"

interface Content {
  /** How many migrations it went through; none where nothing of Tocsin is there. */
  readonly applied: number
  readonly known: number
  /** When a server last gave a sign of life. */
  readonly markedAt: Instant.Instant | undefined
  readonly pepperCheck: string | undefined
}

/** What every storage holds of its schema, its servers and its pepper. `pepperCheck` is that of the settings. */
export const examineSchema = (
  { applied, known, markedAt, pepperCheck: kept }: Content,
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
      : ok("schema", `at ${applied} of ${known}, the present one`)
  const server = serverFinding(markedAt, now)
  const pepper =
    kept === undefined || kept === pepperCheck
      ? ok("pepper", kept === undefined ? "not in use yet" : "the one that agent keys were hashed with")
      : failed(
          "pepper",
          "SERVICE_KEY_PEPPER differs from the value this storage was first used with: set the original value (or unset it if there was none)",
          "usage",
        )
  return [schema, server, pepper]
}

const serverFinding = (markedAt: Instant.Instant | undefined, now: Instant.Instant): Findings[number] => {
  const check = "server"
  if (markedAt === undefined || markedAt === NEVER_MARKED) return ok(check, "none has run on it yet")
  const age = ageText(markedAt, now)
  if (markedAt > now + CLOCK_TOLERANCE_MICROS) {
    return attention(
      check,
      `its last sign of life is in the future (${age}): synchronize this machine's clock with NTP`,
    )
  }
  return markedAt < Instant.minus(now, SILENT_AFTER)
    ? attention(check, `last sign of life ${age}: start the server; if it is running, see its log`)
    : ok(check, `last sign of life ${age}; a running one gives it every 5 s`)
}

/** Twelve signs of life that did not come. */
const SILENT_AFTER = Duration.minutes(1)

// Marks are made by a clock that may be a little ahead of this one.
const CLOCK_TOLERANCE_MICROS = 5_000_000n
