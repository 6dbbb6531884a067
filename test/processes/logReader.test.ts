import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { enroll, report } from "./Agent.ts"
import { historyOf, OPERATOR_TOKEN } from "./api.ts"
import { scratchFolder } from "./scratch.ts"
import { startServer } from "./ServerProcess.ts"

describe("a server whose log reader died", () => {
  it.live("continues, and stops as usual", () =>
    Effect.gen(function* () {
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN }
      const server = yield* startServer({ cwd: yield* scratchFolder, environment })
      yield* server.closeOutput
      const agent = yield* enroll(server, "web-1")
      for (const check_id of ["disk", "load", "swap"])
        yield* report(server, agent, { check_id, status: "critical" })
      assert.lengthOf(yield* historyOf(server), 3)
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
    }),
  )
})
