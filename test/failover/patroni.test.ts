import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasPatroni, startPatroni } from "./Patroni.ts"
import { AT_LENGTH, skippedForLength } from "../properties/atLength.ts"
import { KILLS, playFailover } from "./scenario.ts"

if (!hasPatroni) console.log("Skipped: Patroni, etcd and PostgreSQL of Debian are not installed.")

describe.skipIf(!hasPatroni)("three servers on three PostgreSQL servers under Patroni", () => {
  it.live(
    `lose nothing acknowledged when the primary is killed (${KILLS} times)`,
    () => Effect.flatMap(startPatroni(true), playFailover),
    300_000 * (KILLS + 1),
  )

  // It takes as long again, and promoted.test.ts proves the same without Patroni.
  it.live.skipIf(!AT_LENGTH)(
    `lose only what PostgreSQL lost if no standby is synchronous (${skippedForLength ?? `${KILLS} times`})`,
    () => Effect.flatMap(startPatroni(false), playFailover),
    300_000 * (KILLS + 1),
  )
})
