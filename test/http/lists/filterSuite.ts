import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { type Item, itemsOf, type Page, pageOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import { AGENT, populateLists } from "../client/populateLists.ts"

/** Fields whose filters compare the field of the same name. */
const plain: ReadonlyArray<readonly [path: string, fields: ReadonlyArray<string>]> = [
  ["/api/v1/checks", ["agent_id"]],
  ["/api/v1/events/query", ["agent_id", "check_id"]],
  ["/api/v1/incidents", ["state", "severity"]],
  ["/api/v1/notifiers/outbox", ["state", "notifier", "event_type"]],
]

const textOf =
  (...fields: ReadonlyArray<string>) =>
  (item: Item): string =>
    fields.map((field) => String(item[field] ?? "")).join(" ")

/** The lists of /ops/v1 that are searched, with the text of a row. */
const searched: ReadonlyArray<readonly [path: string, text: (item: Item) => string]> = [
  ["/ops/v1/agents", textOf("agent_id", "hostname")],
  ["/ops/v1/checks", textOf("agent_id", "check_id", "summary")],
  ["/ops/v1/incidents", textOf("incident_key", "agent_id", "check_id", "summary")],
]

const valuesOf = (items: ReadonlyArray<Item>, field: string): ReadonlyArray<unknown> =>
  Array.from(new Set(items.map((item) => item[field])))

/** The rows that each filter leaves of its list (docs/rules.md#lists, docs/rules.md#incidents). */
export const filterSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a filter returns the items with its value, in the order of the whole list", () =>
    Effect.gen(function* () {
      yield* populateLists
      for (const [path, fields] of plain) {
        const all = yield* itemsOf(path)
        for (const field of fields) {
          for (const value of valuesOf(all, field)) {
            const expected = all.filter((item) => item[field] === value)
            assert.deepStrictEqual(
              yield* itemsOf(`${path}?${field}=${value}`),
              expected,
              `${path} ${field}=${value}`,
            )
          }
        }
        const [first = {}] = all
        const query = fields.map((field) => `${field}=${first[field]}`).join("&")
        const expected = all.filter((item) => fields.every((field) => item[field] === first[field]))
        assert.deepStrictEqual(yield* itemsOf(`${path}?${query}`), expected, query)
        if (fields.includes("agent_id")) assert.deepStrictEqual(yield* itemsOf(`${path}?agent_id=nobody`), [])
      }
    }),
  )

  scenario("a search returns the items that have each of its words, in the order of the whole list", () =>
    Effect.gen(function* () {
      yield* populateLists
      for (const [path, text] of searched) {
        const all = yield* itemsOf(path)
        const words = all.flatMap((item) => text(item).split(/[\s/]+/))
        for (const word of new Set(words)) {
          const found = (wanted: string) =>
            all.filter((item) => text(item).toLowerCase().includes(wanted.toLowerCase()))
          const part = word.slice(1).toUpperCase() || word
          const both = found(part).filter((item) => found(AGENT).includes(item))
          const query = `${path}?${new URLSearchParams({ search: `${AGENT}  ${part}`, limit: "1" }).toString()}`
          const walked: Array<Item> = []
          for (let next: string | null = ""; next !== null;) {
            const page: Page = yield* pageOf(next === "" ? query : `${query}&cursor=${next}`)
            walked.push(...page.items)
            next = page.next_cursor
          }
          assert.deepStrictEqual(walked, both, query)
        }
        assert.deepStrictEqual(yield* itemsOf(`${path}?search=${AGENT}+nothing`), [], path)
      }
    }),
  )

  scenario("from and to bound incidents by their opening, or by their resolution where that sorts them", () =>
    Effect.gen(function* () {
      yield* populateLists
      const path = "/ops/v1/incidents"
      for (const [sort, moment] of [
        ["status", "opened_at"],
        ["opened_at", "opened_at"],
        ["resolved_at", "resolved_at"],
      ] as const) {
        const all = yield* itemsOf(`${path}?sort=${moment}`)
        const at = (item: Item | undefined): string => String(item?.[moment] ?? "9999")
        const middle = at(all[Math.floor(all.length / 2)])
        const last = at(all[0])
        for (const [query, isIn] of [
          [`from=${middle}`, (time: string) => time >= middle],
          [`to=${middle}`, (time: string) => time < middle],
          [`from=${middle}&to=${last}`, (time: string) => time >= middle && time < last],
        ] as const) {
          if (query.includes("9999")) continue
          const expected = all.filter((item) => isIn(at(item)))
          assert.deepStrictEqual(
            yield* itemsOf(`${path}?sort=${sort}&${query}`),
            expected,
            `${sort} ${query}`,
          )
        }
      }
      expectError(yield* operate("GET", `${path}?from=yesterday`), 400, "validation")
      // v1 is frozen.
      assert.deepStrictEqual(
        yield* itemsOf("/api/v1/incidents?from=2999-01-01T00:00:00Z"),
        yield* itemsOf("/api/v1/incidents"),
      )
    }),
  )

  scenario("agent_id and check_id find incidents with such a present or former member", () =>
    Effect.gen(function* () {
      const { other } = yield* populateLists
      const keysOf = (query: string) =>
        Effect.map(itemsOf(`/api/v1/incidents?${query}`), (items) =>
          items.map((item) => item["incident_key"]).toSorted(),
        )
      assert.deepStrictEqual(yield* keysOf(`agent_id=${AGENT}`), [
        `${AGENT}/brief`,
        `${AGENT}/disk`,
        `${AGENT}/odd`,
        "shared",
      ])
      assert.deepStrictEqual(yield* keysOf(`agent_id=${other.agent_id}`), ["shared"])
      assert.deepStrictEqual(yield* keysOf("check_id=load"), ["shared"])
      assert.deepStrictEqual(yield* keysOf("check_id=brief"), [`${AGENT}/brief`])
      assert.deepStrictEqual(yield* keysOf(`agent_id=${AGENT}&check_id=load`), ["shared"])
      // One member must match both.
      assert.deepStrictEqual(yield* keysOf(`agent_id=${other.agent_id}&check_id=disk`), [])
      assert.deepStrictEqual(yield* keysOf(`agent_id=${AGENT}&check_id=brief&state=open`), [])
      assert.deepStrictEqual(yield* keysOf("check_id=fine"), [])
    }),
  )
}
