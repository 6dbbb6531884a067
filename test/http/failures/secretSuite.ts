import { createHash } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { operate } from "../client/call.ts"
import { Observatory } from "../service/Observatory.ts"
import { populateLists } from "../client/populateLists.ts"
import { agentPath, heartbeat, newAgent, pendingAgent } from "../client/TestAgent.ts"
import { Tocsin } from "../service/Tocsin.ts"
import { walk } from "../semantics/walk/walk.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/**
 * The bytes of a storage contain no key or token. Every test of this folder checks answers,
 * headers, log lines and spans when its service stops.
 */
export const secretSuite = <Place, E>(
  subject: StorageUnderTest<Place>,
  dump: Effect.Effect<string, E, Place>,
): void => {
  it.live("no key or token is stored, only hash and fingerprint", () =>
    Effect.gen(function* () {
      const place = yield* Layer.build(Layer.fresh(subject.place))
      const client = Layer.provide(subject.client, Layer.succeedContext(place))
      const use = Effect.gen(function* () {
        yield* walk
        yield* populateLists
        const agent = yield* pendingAgent("kept")
        yield* heartbeat({ ...newAgent(), key: agent.key })
        yield* operate("POST", `${agentPath(agent)}/accept`)
        return agent
      })
      const dumpOf = Effect.provideContext<Place>(place)
      const { kept, text } = yield* Effect.gen(function* () {
        const agent = yield* use
        const { sightings } = (yield* Tocsin).observatory
        // Nothing is proved by an eye that is shut.
        for (const [where, count] of Object.entries(sightings)) assert.isAbove(count, 50, where)
        return { kept: agent, text: yield* dumpOf(dump) }
      }).pipe(Effect.provide(Tocsin.layer(client, { throughApi: true })))
      for (const found of ["kept.example.org", sha256(kept.key), sha256(kept.key).slice(0, 16)]) {
        assert.include(text, found)
      }
      const observatory = new Observatory()
      observatory.note("row", text)
      observatory.note("row", yield* dumpOf(dump))
      assert.deepStrictEqual(observatory.leaks, [])
    }),
  )
}
