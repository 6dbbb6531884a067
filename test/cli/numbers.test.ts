import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { enroll, eventOf, push } from "../processes/Agent.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { serverAt, tocsin } from "./tocsin.ts"

interface Answer {
  readonly kept: ReadonlyArray<{ readonly name: string }>
  readonly not_kept: ReadonlyArray<{ readonly name: string; readonly because: string }>
}

describe("tocsin numbers", () => {
  it.live("names those that are not kept, and by which bound", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      const stated = Array.from({ length: 23 }, (_, n) => `v${n}=${n}%`)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* startServer(serverAt(place))
          const agent = yield* enroll(server, "web-1")
          const usual = eventOf({ check_id: "many", status: "ok" })
          const observed_at = new Date().toISOString()
          const event = { ...usual, observed_at, output: `OK | ${stated.join(" ")}` }
          yield* Effect.orDie(push(server, agent, [event]))
          yield* server.stop
        }),
      )
      // One of the 20 is how long the check ran.
      const { stdout } = yield* tocsin(place, "numbers", "web-1/many", "--json")
      const answer = JSON.parse(stdout) as Answer
      assert.lengthOf(answer.kept, 20)
      assert.deepStrictEqual(
        answer.not_kept.map(({ because, name }) => [name, because]),
        ["v19", "v20", "v21", "v22"].map((name) => [name, "check"]),
      )
      const { stderr } = yield* tocsin(place, "numbers", "web-1/many")
      assert.include(stderr, "not kept: v19, v20, v21, v22; a check keeps 20 numbers: choose them by numbers")
    }),
  )
})
