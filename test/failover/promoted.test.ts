import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startCluster } from "./startCluster.ts"
import { KILLS, playFailover } from "./story.ts"

describe("three servers on a PostgreSQL with a standby", () => {
  it.live(
    `lose nothing acknowledged when the primary is killed and the standby promoted (${KILLS} times)`,
    () => Effect.flatMap(startCluster(true), playFailover),
    120_000 * KILLS,
  )

  it.live(
    `lose only what PostgreSQL lost if the standby had fallen behind (${KILLS} times)`,
    () => Effect.flatMap(startCluster(false), playFailover),
    120_000 * KILLS,
  )
})
