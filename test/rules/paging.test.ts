import type { Agent } from "@tocsin/contract/v1/Resources"
import type { Page } from "@tocsin/core/kernel/engine/lists/readPage"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { heartbeatOf } from "@tocsin/testing/samples"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { integer, oneOf } from "../properties/arbitraries.ts"
import { listings, type NamedPage } from "./listings.ts"
import { enrollment, life, SIZE } from "./Scenario.ts"
import { driveService } from "./DrivenService.ts"

const arbitrary = { runs: propertyRuns(100), size: SIZE, maxShrinks: 1_000 }
const EVERYTHING = 500
const limits = Arbitrary.array(integer(1, 7), { minLength: 1, maxLength: 5 })

const limitAt = (limits: ReadonlyArray<number>, page: number): number => limits[page % limits.length] ?? 1

describe("a list", () => {
  it.effect.prop(
    "read page by page equals the whole list, forward and backward",
    { steps: life, listing: oneOf(...listings), limits },
    ({ steps, listing, limits }) =>
      Effect.gen(function* () {
        const driven = yield* driveService({ notifiers: ["debug", "webhook"] })
        yield* driven.play([...enrollment, ...steps])
        const read = (parameters: Parameters<typeof listing.read>[1]) =>
          listing.read(driven.queries(), parameters)
        const whole = yield* read({ limit: EVERYTHING })
        assert.strictEqual(whole.next_cursor, null)

        const forward: Array<NamedPage> = [yield* read({ limit: limitAt(limits, 0) })]
        for (let last = forward[0]; last?.next_cursor; last = forward.at(-1)) {
          const limit = limitAt(limits, forward.length)
          assert.lengthOf(last.items, limitAt(limits, forward.length - 1))
          forward.push(yield* read({ cursor: last.next_cursor, limit }))
        }
        assert.deepStrictEqual(
          forward.flatMap((page) => page.items),
          whole.items,
        )
        assert.strictEqual(forward[0]?.prev_cursor, null)

        for (const [at, page] of forward.entries()) {
          const former = forward[at - 1]
          if (former === undefined || page.prev_cursor === null) continue
          const back = yield* read({ cursor: page.prev_cursor, back: true, limit: former.items.length })
          assert.deepStrictEqual(back.items, former.items)
          assert.strictEqual(back.prev_cursor === null, at === 1)
          const again = yield* read({ cursor: back.next_cursor ?? "", limit: limitAt(limits, at) })
          assert.deepStrictEqual(again.items, page.items)
        }

        const backward: Array<NamedPage> = forward.slice(-1)
        for (let first = backward[0]; first?.prev_cursor; first = backward[0]) {
          backward.unshift(
            yield* read({ cursor: first.prev_cursor, back: true, limit: limitAt(limits, backward.length) }),
          )
        }
        assert.deepStrictEqual(
          backward.flatMap((page) => page.items),
          whole.items,
        )

        const first = yield* read({ back: true, limit: limitAt(limits, 0) })
        assert.deepStrictEqual(first, forward[0])
      }),
    { arbitrary },
  )

  it.effect.prop(
    "that changes during a walk shows every permanent row once, and none twice",
    { steps: life, listing: oneOf(...listings.filter(({ isSteady }) => isSteady)), limits },
    ({ steps, listing, limits }) =>
      Effect.gen(function* () {
        const driven = yield* driveService({ notifiers: ["debug", "webhook"] })
        const half = Math.floor(steps.length / 2)
        const later = steps.slice(half)
        yield* driven.play([...enrollment, ...steps.slice(0, half)])
        const read = (parameters: Parameters<typeof listing.read>[1]) =>
          listing.read(driven.queries(), parameters)
        let always = new Set((yield* read({ limit: EVERYTHING })).items)
        const seen: Array<string> = []
        let cursor: string | null | undefined
        for (let pages = 0; cursor !== null; pages++) {
          const limit = limitAt(limits, pages)
          const page: NamedPage = yield* read(cursor === undefined ? { limit } : { cursor, limit })
          seen.push(...page.items)
          cursor = page.next_cursor
          yield* driven.play(later.splice(0, 2))
          const present = new Set((yield* read({ limit: EVERYTHING })).items)
          always = new Set(Array.from(always).filter((name) => present.has(name)))
        }
        assert.strictEqual(new Set(seen).size, seen.length)
        assert.includeMembers(seen, Array.from(always))
      }),
    { arbitrary },
  )

  it.effect.prop(
    "leads back from a page that became empty to all remaining rows, in either direction",
    { count: integer(7, 12), limit: integer(1, 6) },
    ({ count, limit }) =>
      Effect.gen(function* () {
        const driven = yield* driveService()
        const names = Array.from({ length: count }, (_, at) => `agent-${String(at).padStart(2, "0")}`)
        const agents = ({ items }: Page<Agent>) => items.map((item): string => item.agent_id)
        const register = (agent: string) =>
          driven.perform({ action: "heartbeat", key: agent, request: heartbeatOf(agent) })
        const remove = (agent: string) => driven.perform({ action: "remove", agent_id: AgentId.make(agent) })
        yield* Effect.forEach(names, register)
        const first = yield* driven.queries().agents({ limit })
        const cursor = first.next_cursor ?? ""
        const second = yield* driven.queries().agents({ cursor, limit })

        yield* Effect.forEach(names.slice(limit), remove)
        const after = yield* driven.queries().agents({ cursor, limit })
        assert.deepStrictEqual([after.items, after.next_cursor], [[], null])
        const left = yield* driven.queries().agents({ cursor: after.prev_cursor ?? "", back: true, limit })
        assert.deepStrictEqual(agents(left), names.slice(0, limit))

        yield* Effect.forEach(names.slice(limit), register)
        yield* Effect.forEach(names.slice(0, limit), remove)
        const before = yield* driven.queries().agents({ cursor: second.prev_cursor ?? "", back: true, limit })
        assert.deepStrictEqual([before.items, before.prev_cursor], [[], null])
        const right = yield* driven.queries().agents({ cursor: before.next_cursor ?? "", limit })
        assert.deepStrictEqual(agents(right), agents(second))

        // Both cursors include their position; an empty page behind them leads back to the other
        // side of it.
        yield* Effect.forEach(names.slice(limit), remove)
        const behind = yield* driven.queries().agents({ cursor: after.prev_cursor ?? "", back: true, limit })
        const ahead = yield* driven.queries().agents({ cursor: before.next_cursor ?? "", limit })
        assert.deepStrictEqual([behind.items, ahead.items], [[], []])
        yield* Effect.forEach(names, register)
        const next = yield* driven.queries().agents({ cursor: behind.next_cursor ?? "", limit })
        assert.deepStrictEqual(agents(next), agents(second))
        const former = yield* driven.queries().agents({ cursor: ahead.prev_cursor ?? "", back: true, limit })
        assert.deepStrictEqual(agents(former), names.slice(0, limit))
      }),
    { arbitrary: { ...arbitrary, runs: propertyRuns(60) } },
  )
})
