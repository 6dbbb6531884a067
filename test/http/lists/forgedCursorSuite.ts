import type { SortColumn, SortValue } from "@tocsin/core/kernel/model/ListPlan"
import {
  type ListName,
  type ListQuery,
  orderColumns,
  type Position,
} from "@tocsin/core/lists/ListDefinitions"
import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import { encodeCursor } from "@tocsin/core/kernel/engine/lists/Cursor"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { operate } from "../client/call.ts"
import { pageOf } from "../client/itemsOf.ts"
import { populateLists } from "../client/populateLists.ts"
import { onStorage } from "../onStorage.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** A list, and how anyone can make cursors of it. */
const forgery = <L extends ListName>(path: string, query: ListQuery<L>) => ({
  path,
  types: orderColumns(query.list, query.sort).map(({ type }) => type),
  forge: (position: Position): string => encodeCursor(query, "next", position, sha256),
})

/** Orders with columns of every type, as the service asks a storage for them. */
const forgeries = [
  forgery("/api/v1/agents?", { list: "agents", filter: {}, sort: "agent_id", direction: "asc" }),
  forgery("/api/v1/checks?", { list: "checks", filter: {}, sort: "agent_id", direction: "asc" }),
  forgery("/api/v1/events/query?", { list: "history", filter: {}, sort: "stored", direction: "desc" }),
  forgery("/api/v1/incidents?", { list: "incidents", filter: {}, sort: "status", direction: "desc" }),
  forgery("/api/v1/incidents?sort=resolved_at", {
    list: "incidents",
    filter: {},
    sort: "resolved_at",
    direction: "desc",
  }),
  forgery("/api/v1/notifiers/outbox?", {
    list: "outbox",
    filter: {},
    sort: "updated_at",
    direction: "desc",
  }),
  forgery("/api/v1/agents/admission/blacklist?", {
    list: "blacklist",
    filter: {},
    sort: "stored",
    direction: "desc",
  }),
]

/**
 * Values that no row has, by the type of their column, and whether every storage can compare with
 * them.
 */
const forgedValues: {
  readonly [Type in SortColumn<never>["type"]]: ReadonlyArray<readonly [SortValue, boolean]>
} = {
  bigint: [
    [9_223_372_036_854_775_807n, true],
    [-9_223_372_036_854_775_808n, true],
    [9_223_372_036_854_775_808n, false],
    [9_999_999_999_999_999_999n, false],
    [-9_999_999_999_999_999_999n, false],
  ],
  number: [
    [Number.MAX_SAFE_INTEGER, true],
    [Number.MIN_SAFE_INTEGER, true],
    [2 ** 53, false],
    [1e300, false],
    [0.5, false],
  ],
  text: [
    ["\u{10ffff}", true],
    ["'; DROP TABLE agent; --", true],
    ["a\u0000", false],
    ["\ud800", false],
    ["a".repeat(513), false],
  ],
}

/**
 * Cursors that no page gave: their checksum needs no secret, so a caller can make one of any
 * values.
 */
export const forgedCursorSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a forged cursor is refused, or answered like any other", () =>
    Effect.gen(function* () {
      yield* populateLists
      for (const { path, types, forge } of forgeries) {
        const { next_cursor } = yield* pageOf(`${path}&limit=1`)
        const [, , isInclusive, genuine] = JSON.parse(
          Buffer.from(next_cursor ?? assert.fail(path), "base64url").toString(),
        ) as [string, string, boolean, ReadonlyArray<string | number>]
        const values = genuine.map((value, at) => (types[at] === "bigint" ? BigInt(value) : value))
        assert.strictEqual(forge({ values, isInclusive }), next_cursor)
        for (const [at, type] of types.entries()) {
          for (const [value, isComparable] of forgedValues[type]) {
            const cursor = forge({ values: values.with(at, value), isInclusive: false })
            const { status, text } = yield* operate("GET", `${path}&cursor=${cursor}`)
            assert.strictEqual(status, isComparable ? 200 : 400, `${path} ${at} ${value}: ${text}`)
          }
        }
      }
    }),
  )
}
