import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { startCluster } from "./startCluster.ts"
import { KILLS, playFailover } from "./scenario.ts"

describe("three servers on a PostgreSQL with a standby", () => {
  it.live(
    `lose nothing acknowledged when the primary is killed and the standby promoted (${KILLS} times)`,
    () => Effect.flatMap(startCluster(true), playFailover),
    120_000 * KILLS,
  )

  // Without synchronous commits, servers do the same: only what PostgreSQL may lose differs.
  it.live.skipIf(!AT_LENGTH)(
    `lose only what PostgreSQL lost if the standby had fallen behind (${KILLS} times)${unlessAtLength}`,
    () => Effect.flatMap(startCluster(false), playFailover),
    120_000 * KILLS,
  )
})
