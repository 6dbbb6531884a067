import type * as Instant from "@tocsin/core/contract/Instant"
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
    return [
      attention("schema", "there is nothing of Tocsin yet: the first start makes it, or tocsin migrate does"),
    ]
  }
  const schema =
    applied < known
      ? attention(
          "schema",
          `at ${applied} of ${known}: the next start brings it up to date, or tocsin migrate does`,
        )
      : ok("schema", `at ${applied} of ${known}, the present one`)
  const server =
    markedAt === undefined
      ? ok("server", "none has run on it yet")
      : markedAt > now + CLOCK_TOLERANCE_MICROS
        ? attention(
            "server",
            `its last sign of life lies ahead (${ageText(markedAt, now)}): let this machine's clock follow NTP`,
          )
        : ok("server", `last sign of life ${ageText(markedAt, now)}; a running one gives it every 5 s`)
  const pepper =
    kept === undefined || kept === pepperCheck
      ? ok("pepper", kept === undefined ? "not in use yet" : "the one that agent keys were hashed with")
      : failed(
          "pepper",
          "SERVICE_KEY_PEPPER is another than when this storage was first used: set the former value (or none, if none was set)",
          "usage",
        )
  return [schema, server, pepper]
}

// Marks are made by a clock that may be a little ahead of this one.
const CLOCK_TOLERANCE_MICROS = 5_000_000n
