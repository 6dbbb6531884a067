import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { operate } from "../client/call.ts"
import { onStorage } from "../onStorage.ts"
import { populateLists } from "../client/populateLists.ts"
import { accept, acceptedAgent, event, pendingAgent, push } from "../client/TestAgent.ts"
import { Tocsin } from "../service/Tocsin.ts"

const SUMMARY = "/api/v1/system-summary"
const summary = Effect.map(operate("GET", SUMMARY), ({ body }) => body)

/** The counts that operators poll (docs/rules.md#agent-status). */
export const summarySuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("counts accepted agents, the checks of all, and open incidents", () =>
    Effect.gen(function* () {
      const { clock } = yield* Tocsin
      const empty = {
        agents_online: 0,
        agents_offline: 0,
        checks_ok: 0,
        checks_warning: 0,
        checks_critical: 0,
      }
      assert.deepInclude(yield* summary, { ...empty, checks_unknown: 0, open_incidents: 0 })
      yield* populateLists
      const counts = {
        checks_ok: 2,
        checks_warning: 1,
        checks_critical: 2,
        checks_unknown: 1,
        open_incidents: 3,
      }
      assert.deepInclude(yield* summary, { agents_online: 2, agents_offline: 0, ...counts })
      // Seen 120 s ago is stale, which is as offline as dead.
      clock.advance("119 seconds")
      const agent = yield* acceptedAgent()
      clock.advance("2 seconds")
      assert.deepInclude(yield* summary, { agents_online: 1, agents_offline: 2 })
      clock.advance("110 seconds")
      yield* push(agent, event({ check_id: "late", status: "unknown" }))
      clock.advance("100 seconds")
      assert.deepInclude(yield* summary, {
        agents_online: 1,
        agents_offline: 2,
        checks_unknown: 2,
        open_incidents: 4,
      })
      clock.advance("1 hour")
      assert.deepInclude(yield* summary, { agents_online: 0, agents_offline: 3 })
    }),
  )

  scenario("simultaneous polls get the same answer, and each later poll the current one", () =>
    Effect.gen(function* () {
      for (let count = 1; count <= 5; count++) {
        yield* acceptedAgent()
        const answers = yield* Effect.all(
          Array.from({ length: 40 }, () => summary),
          { concurrency: "unbounded" },
        )
        for (const answer of answers) assert.deepInclude(answer, { agents_online: count })
      }
    }),
  )

  scenario("a poll that starts after an answer includes its change", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forEach(Array.from({ length: 20 }), () => pendingAgent())
      let accepted = 0
      const poll = Effect.gen(function* () {
        const before = accepted
        const body = yield* summary
        assert.isAtLeast(
          Number(Object.entries(body ?? {}).find(([name]) => name === "agents_online")?.[1]),
          before,
        )
      })
      const acceptAll = Effect.forEach(waiting, (agent) =>
        Effect.andThen(
          accept(agent),
          Effect.sync(() => (accepted += 1)),
        ),
      )
      const pollUntilDone = Effect.gen(function* () {
        while (accepted < waiting.length) yield* poll
      })
      yield* Effect.all([acceptAll, ...Array.from({ length: 8 }, () => pollUntilDone)], {
        concurrency: "unbounded",
      })
    }),
  )
}
