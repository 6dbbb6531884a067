import { describe, it } from "@effect/vitest"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { startPatroni, withoutPatroni } from "./Patroni.ts"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { KILLS, playFailover } from "./scenario.ts"

const reason = skippedFor(withoutPatroni)

describe.skipIf(withoutPatroni !== undefined)(
  `three servers on three PostgreSQL servers under Patroni${reason}`,
  () => {
    it.live(
      `lose nothing acknowledged when the primary is killed (${KILLS} times)`,
      () => Effect.flatMap(startPatroni(true), playFailover),
      300_000 * (KILLS + 1),
    )

    // It takes as long again, and promoted.test.ts proves the same without Patroni.
    it.live.skipIf(!AT_LENGTH)(
      `lose only what PostgreSQL lost if no standby is synchronous (${KILLS} times)${unlessAtLength}`,
      () => Effect.flatMap(startPatroni(false), playFailover),
      300_000 * (KILLS + 1),
    )
  },
)
