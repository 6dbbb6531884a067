import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { pageOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import { AT_LENGTH } from "../../properties/atLength.ts"
import { AGENT, populateLists } from "../client/populateLists.ts"
import { acceptedAgent, agentPath, blockedAgent, event, push } from "../client/TestAgent.ts"

/**
 * Queries of lists that differ from one another in one respect each; each has more than one page.
 */
const queries = [
  "/api/v1/agents?",
  "/api/v1/agents/admission/blacklist?",
  "/api/v1/checks?",
  `/api/v1/checks?agent_id=${AGENT}`,
  "/api/v1/events/query?",
  `/api/v1/events/query?agent_id=${AGENT}`,
  "/api/v1/events/query?check_id=brief",
  `/api/v1/events/query?agent_id=${AGENT}&check_id=brief`,
  "/api/v1/incidents?",
  "/api/v1/incidents?direction=asc",
  "/api/v1/incidents?sort=opened_at",
  "/api/v1/incidents?sort=resolved_at",
  "/api/v1/incidents?state=open",
  "/api/v1/incidents?severity=critical",
  `/api/v1/incidents?agent_id=${AGENT}`,
  "/api/v1/notifiers/outbox?",
  "/api/v1/notifiers/outbox?sort=created_at",
  "/api/v1/notifiers/outbox?direction=asc",
  "/api/v1/notifiers/outbox?notifier=debug",
  "/api/v1/notifiers/outbox?event_type=firing",
]

const knowsBack = (query: string): boolean => !query.includes("blacklist")

/** Refused cursors, and pages whose rows are removed (docs/rules.md#lists). */
export const cursorSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a cursor is refused by every query except its own, and in the other direction", () =>
    Effect.gen(function* () {
      yield* populateLists
      const cursors: Array<{ readonly of: string; readonly cursor: string; readonly back: boolean }> = []
      for (const of of queries) {
        const first = yield* pageOf(`${of}&limit=1`)
        const next = first.next_cursor ?? assert.fail(`${of} has but one page`)
        assert.isNull(first.prev_cursor, of)
        cursors.push({ of, cursor: next, back: false })
        const second = yield* pageOf(`${of}&limit=1&cursor=${next}`)
        if (knowsBack(of)) cursors.push({ of, cursor: second.prev_cursor ?? assert.fail(of), back: true })
      }
      for (const [place, { of, cursor, back }] of cursors.entries()) {
        assert.isAtMost(cursor.length, 512)
        // At length, by every other query.
        for (const query of queries.filter((one, at) => one === of || AT_LENGTH || at % 4 === place % 4)) {
          // In the other direction by the query that it is of: what refuses it there is the same for all.
          for (const asked of query === of && knowsBack(query) ? [true, false] : [back && knowsBack(query)]) {
            const { status } = yield* operate("GET", `${query}&cursor=${cursor}&back=${asked}`)
            const isOwn = query === of && asked === back
            assert.strictEqual(status, isOwn ? 200 : 400, `${of} back=${back} at ${query} back=${asked}`)
          }
        }
      }
    }),
  )

  scenario("a cursor with any character changed, removed or added is refused", () =>
    Effect.gen(function* () {
      yield* populateLists
      for (const path of ["/api/v1/checks", "/api/v1/events/query"]) {
        const { next_cursor } = yield* pageOf(`${path}?limit=1`)
        const cursor = next_cursor ?? assert.fail(path)
        const characters = Array.from(cursor)
        const changed = characters.flatMap((character, at) =>
          ["A", "_", String.fromCharCode(character.charCodeAt(0) ^ 1)]
            .filter((other) => other !== character)
            .map((other) => cursor.slice(0, at) + encodeURIComponent(other) + cursor.slice(at + 1)),
        )
        const shorter = characters.map((_, at) => cursor.slice(0, at) + cursor.slice(at + 1))
        const longer = ["A", "=", "==", "%20", "%0A", "."].flatMap((more) => [cursor + more, more + cursor])
        for (const tampered of [...changed, ...shorter, ...longer, cursor.toUpperCase(), cursor + cursor]) {
          const answer = yield* operate("GET", `${path}?cursor=${tampered}`)
          expectError(answer, 400, "validation", `${cursor} as ${tampered}: ${answer.text}`)
        }
        assert.strictEqual((yield* operate("GET", `${path}?cursor=${cursor}`)).status, 200)
      }
    }),
  )

  scenario("a cursor is opaque, and fits its limit with the longest IDs", () =>
    Effect.gen(function* () {
      for (const letter of ["a", "b"]) {
        const agent = yield* acceptedAgent(letter.repeat(128))
        yield* push(agent, event({ check_id: "c".repeat(128) }), event({ check_id: "d".repeat(128) }))
      }
      for (const path of [
        "/api/v1/agents",
        "/api/v1/checks",
        `/api/v1/checks?agent_id=${"a".repeat(128)}`,
        "/api/v1/events/query",
      ]) {
        const { next_cursor } = yield* pageOf(`${path}${path.includes("?") ? "&" : "?"}limit=1`)
        assert.match(next_cursor ?? "", /^[A-Za-z0-9_-]{1,512}$/)
      }
    }),
  )

  scenario("the limit may change from page to page, and a cursor outlives its row", () =>
    Effect.gen(function* () {
      const made = yield* Effect.forEach(["a", "b", "c", "d", "e", "f"], (id) => acceptedAgent(id))
      const idsOf = (path: string) =>
        Effect.map(pageOf(path), (page) => page.items.map((item) => item["agent_id"]))
      const first = yield* pageOf("/api/v1/agents?limit=2")
      for (const gone of [made[1], made[2]]) {
        if (gone !== undefined) yield* operate("DELETE", agentPath(gone))
      }
      assert.deepStrictEqual(yield* idsOf(`/api/v1/agents?limit=3&cursor=${first.next_cursor}`), [
        "d",
        "e",
        "f",
      ])
      const second = yield* pageOf(`/api/v1/agents?limit=1&cursor=${first.next_cursor}`)
      assert.deepStrictEqual(
        yield* idsOf(`/api/v1/agents?limit=500&back=true&cursor=${second.prev_cursor}`),
        ["a"],
      )
      for (const gone of [made[3], made[4], made[5]]) {
        if (gone !== undefined) yield* operate("DELETE", agentPath(gone))
      }
      assert.deepInclude(yield* pageOf(`/api/v1/agents?cursor=${second.next_cursor}`), {
        items: [],
        next_cursor: null,
      })
    }),
  )

  scenario("a cursor outlives its blacklist row", () =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c", "d"]) yield* blockedAgent(id)
      const first = yield* pageOf("/api/v1/agents/admission/blacklist?limit=2")
      assert.deepStrictEqual(
        first.items.map((item) => item["agent_id"]),
        ["d", "c"],
      )
      yield* operate("DELETE", `/api/v1/agents/admission/blacklist/${first.items[1]?.["id"]}`)
      const second = yield* pageOf(`/api/v1/agents/admission/blacklist?cursor=${first.next_cursor}`)
      assert.deepStrictEqual(
        second.items.map((item) => item["agent_id"]),
        ["b", "a"],
      )
      assert.isNull(second.next_cursor)
    }),
  )
}
