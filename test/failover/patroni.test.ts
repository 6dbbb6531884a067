import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasPatroni, startPatroni } from "./Patroni.ts"
import { KILLS, playFailover } from "./story.ts"

if (!hasPatroni) console.log("Skipped: Patroni, etcd and PostgreSQL of Debian are not installed.")

describe.skipIf(!hasPatroni)("three servers on three PostgreSQL servers under Patroni", () => {
  it.live(
    `lose nothing acknowledged when the primary is killed (${KILLS} times)`,
    () => Effect.flatMap(startPatroni, playFailover),
    300_000 * (KILLS + 1),
  )
})
