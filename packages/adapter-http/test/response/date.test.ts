import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { agent, heartbeat, send } from "../http.ts"
import { testServer } from "../TestServer.ts"

/** An hour ahead of the machine's, as a corrected one may be. */
const AHEAD = 3_600_000

const ahead = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (machine) => ({
    currentTimeMillis: Effect.sync(() => machine.currentTimeMillisUnsafe() + AHEAD),
    currentTimeNanos: Effect.sync(() => machine.currentTimeNanosUnsafe() + BigInt(AHEAD) * 1_000_000n),
    monotonicTimeNanos: machine.monotonicTimeNanos,
    currentTimeMillisUnsafe: () => machine.currentTimeMillisUnsafe() + AHEAD,
    currentTimeNanosUnsafe: () => machine.currentTimeNanosUnsafe() + BigInt(AHEAD) * 1_000_000n,
    monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
    sleep: (duration: Parameters<Clock.Clock["sleep"]>[0]) => machine.sleep(duration),
  })),
)

const stubs = { ingest: { heartbeat: () => Effect.succeed({ accepted: true }) } }

layer(testServer(stubs).pipe(Layer.provide(ahead)), { excludeTestServices: true })("the field Date", (it) => {
  it.effect("is of the service's clock in every answer: agents follow it", () =>
    Effect.gen(function* () {
      const body = JSON.stringify(heartbeat)
      for (const answer of [
        yield* send("POST", "/api/v1/heartbeat", { headers: agent, body }),
        yield* send("POST", "/api/v1/heartbeat", { headers: agent, body: [Buffer.from(body)] }),
        yield* send("GET", "/api/v1/health"),
        yield* send("GET", "/nowhere"),
        yield* send("GET", "/openapi.json"),
      ]) {
        const offBy = Date.parse(answer.headers.date ?? "") - Date.now() - AHEAD
        assert.isBelow(Math.abs(offBy), AHEAD / 2)
      }
    }),
  )
})
