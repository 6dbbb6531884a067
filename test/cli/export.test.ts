import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { enroll, eventOf, push } from "../processes/Agent.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { serverAt, tocsin } from "./tocsin.ts"

interface Line {
  readonly [field: string]: unknown
  readonly cursor?: string
  readonly end?: true
}

const linesOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line)

describe("tocsin export", () => {
  it.live("writes what the API answers, beside a server and without one", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      const span = ["--from", "2020-01-01", "--to", "2100-01-01"]
      const history = ["export", "history", ...span]
      yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* startServer(serverAt(place))
          const agent = yield* enroll(server, "web-1")
          const output = "BAD | used=97%"
          const event = { ...eventOf({ check_id: "disk", status: "critical" }), output }
          yield* Effect.orDie(push(server, agent, [event]))
          assert.lengthOf(linesOf((yield* tocsin(place, ...history)).stdout), 2)
          yield* server.stop
        }),
      )
      const [row, last] = linesOf((yield* tocsin(place, ...history)).stdout)
      assert.deepInclude(row, { agent_id: "web-1", check_id: "disk", status: "critical" })
      assert.isTrue(last?.end)
      const rest = yield* tocsin(place, ...history, "--cursor", last?.cursor ?? "")
      assert.lengthOf(linesOf(rest.stdout), 1)
      const numbers = yield* tocsin(place, "export", "numbers", ...span)
      assert.deepStrictEqual(
        linesOf(numbers.stdout).map(({ name }) => name),
        ["duration", "used", undefined],
      )
      const wrong = yield* tocsin(place, "export", "checks", ...span)
      assert.strictEqual(wrong.code, 2)
      assert.match(wrong.stderr, /kind must be/)
    }),
  )
})
