import { assert, it } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Context, Effect, Layer, Queue } from "effect"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { openStream } from "../client/openStream.ts"
import { acceptedAgent, event, push } from "../client/TestAgent.ts"
import { Tocsin } from "../service/Tocsin.ts"

/** Two servers on one storage. */
const pair = <Place>({ client, place }: StorageUnderTest<Place>) =>
  Effect.gen(function* () {
    const where = yield* Layer.build(Layer.fresh(place))
    const server = Effect.map(
      Layer.build(Layer.fresh(Tocsin.layer(Layer.fresh(Layer.provide(client, Layer.succeedContext(where)))))),
      Context.get(Tocsin),
    )
    const [one, other] = [yield* server, yield* server]
    return {
      onOne: Effect.provideService(Tocsin, one),
      onOther: Effect.provideService(Tocsin, other),
      readToken: other.readToken,
    }
  })

/** The reaction of one replica of the service to changes of another. */
export const replicaSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  it.live("a token that one replica removes or rotates is refused by the other at the next request", () =>
    Effect.gen(function* () {
      const { onOne, onOther } = yield* pair(subject)
      const make = (path: string, json: object) =>
        Effect.map(onOne(operate("POST", `/ops/v1/operators${path}`, { json })), ({ status, body, text }) => {
          assert.oneOf(status, [200, 201], text)
          return (body as { readonly token: string }).token
        })
      const me = (token: string) => onOther(call("GET", "/ops/v1/me", { token }))
      const first = yield* make("", { name: "ann", role: "respond" })
      const acknowledges_for = "8h"
      assert.deepStrictEqual((yield* me(first)).body, { name: "ann", role: "respond", acknowledges_for })
      yield* onOne(operate("PATCH", "/ops/v1/operators/ann", { json: { role: "read" } }))
      assert.deepStrictEqual((yield* me(first)).body, { name: "ann", role: "read", acknowledges_for })
      const second = yield* make("/ann/rotate", { grace: "0s" })
      expectError(yield* me(first), 401, "unauthorized", "after its rotation")
      assert.strictEqual((yield* me(second)).status, 200)
      yield* onOne(operate("DELETE", "/ops/v1/operators/ann"))
      expectError(yield* me(second), 401, "unauthorized", "after its removal")
    }).pipe(Effect.scoped),
  )

  it.live("a stream of one replica names what another has changed", () =>
    Effect.gen(function* () {
      const { onOne, onOther, readToken } = yield* pair(subject)
      const agent = yield* onOne(acceptedAgent())
      const { events } = yield* onOther(openStream(readToken))
      yield* Effect.sleep("1 second")
      yield* Queue.clear(events)
      for (const exit_code of [1, 0, 2]) {
        yield* onOne(push(agent, event({ status: exit_code === 0 ? "ok" : "warning", exit_code })))
        const seen = new Set<string>()
        const whole = Effect.gen(function* () {
          while (!["checks", "incidents", "outbox"].every((topic) => seen.has(topic)))
            for (const topic of (yield* Queue.take(events)).topics) seen.add(topic)
        })
        yield* Effect.timeout(whole, "60 seconds")
      }
    }).pipe(Effect.scoped),
  )
}
