import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { operate } from "../client/call.ts"
import { type Item, itemsOf, type Page, pageOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import { acceptedAgent, agentPath, blockedAgent, event, push, type TestAgent } from "../client/TestAgent.ts"

const SHARED = "everyone"
const statuses = ["warning", "critical", "unknown"] as const

/** Several pages of everything, with many rows that share their sort values. */
const fill = Effect.gen(function* () {
  const agents: Array<TestAgent> = []
  for (const id of ["b", "B", "a", "a.b", "a-b", "a:b", "a_b", "ab", "aa"])
    agents.push(yield* acceptedAgent(id))
  for (const [index, agent] of agents.entries()) {
    // One request, so one moment: the events of a batch are stored at the same microsecond.
    yield* push(
      agent,
      ...statuses.map((status) => event({ check_id: `c-${status}`, status, exit_code: 1, output: status })),
      event({ check_id: "together", status: "critical", exit_code: 2, incident_key: SHARED }),
    )
    if (index % 3 === 0)
      yield* push(agent, event({ check_id: "c-critical", observed_at: "2026-03-01T12:00:01Z" }))
    yield* blockedAgent(`blocked-${index}`)
  }
})

interface Walked {
  readonly path: string
  /** The identity of an item. */
  readonly id: (item: Item) => unknown
}

const rowId = (item: Item): unknown => item["id"]
const lists: ReadonlyArray<Walked> = [
  { path: "/api/v1/agents?", id: (item) => item["agent_id"] },
  { path: "/api/v1/agents/admission/blacklist?", id: rowId },
  { path: "/api/v1/checks?", id: (item) => `${String(item["agent_id"])}/${String(item["check_id"])}` },
  { path: "/api/v1/checks?agent_id=a", id: (item) => item["check_id"] },
  { path: "/api/v1/events/query?", id: (item) => item["event_id"] },
  { path: "/api/v1/events/query?check_id=c-critical", id: (item) => item["event_id"] },
  ...["status", "opened_at", "resolved_at"].flatMap((sort) =>
    ["asc", "desc"].map((direction): Walked => ({
      path: `/api/v1/incidents?sort=${sort}&direction=${direction}`,
      id: rowId,
    })),
  ),
  { path: "/api/v1/incidents?state=open&severity=critical", id: rowId },
  { path: "/api/v1/incidents?agent_id=a", id: rowId },
  ...["created_at", "updated_at"].flatMap((sort) =>
    ["asc", "desc"].map((direction): Walked => ({
      path: `/api/v1/notifiers/outbox?sort=${sort}&direction=${direction}`,
      id: rowId,
    })),
  ),
  { path: "/api/v1/notifiers/outbox?event_type=firing&notifier=debug", id: rowId },
]

/** Follows next_cursor from the first page to the last. Returns the pages. */
const forward = Effect.fnUntraced(function* (path: string, limit: number) {
  let page = yield* pageOf(`${path}&limit=${limit}`)
  const pages = [page]
  while (page.next_cursor !== null) {
    page = yield* pageOf(`${path}&limit=${limit}&cursor=${page.next_cursor}`)
    pages.push(page)
    assert.isBelow(pages.length, 1_000)
  }
  return pages
})

/** Follows prev_cursor back to the first page. Returns the pages, first one first. */
const backward = Effect.fnUntraced(function* (path: string, limit: number, from: string | null) {
  const pages: Array<Page> = []
  for (let previous = from; previous !== null;) {
    const page = yield* pageOf(`${path}&limit=${limit}&back=true&cursor=${previous}`)
    pages.unshift(page)
    previous = page.prev_cursor
    assert.isBelow(pages.length, 1_000)
  }
  return pages
})

const compare = (a: unknown, b: unknown): number =>
  String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0
const severities = ["warning", "unknown", "critical"]

/** The sort keys of incidents, ascending (docs/rules.md#lists). */
const incidentOrders: Readonly<Record<string, (item: Item) => ReadonlyArray<unknown>>> = {
  status: (item) => [
    item["state"] === "open" ? 1 : 0,
    severities.indexOf(String(item["severity"])),
    item["opened_at"],
    item["id"],
  ],
  opened_at: (item) => [item["opened_at"], item["id"]],
  resolved_at: (item) => [item["resolved_at"] ?? "9999-12-31T23:59:59.999999Z", item["id"]],
}

const byKey = (keyOf: (item: Item) => ReadonlyArray<unknown>) => (a: Item, b: Item) => {
  const [left, right] = [keyOf(a), keyOf(b)]
  return left.map((value, index) => compare(value, right[index])).find((order) => order !== 0) ?? 0
}

/** Every list from end to end and back (docs/rules.md#lists). */
export const pagingSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a walk of every list, forward and backward, meets each item once", () =>
    Effect.gen(function* () {
      yield* fill
      for (const { path, id } of lists) {
        const whole = yield* pageOf(`${path}&limit=500`)
        assert.deepInclude(whole, { next_cursor: null, prev_cursor: null }, path)
        const expected = whole.items.map(id)
        assert.isAbove(expected.length, 2, path)
        assert.strictEqual(new Set(expected).size, expected.length, path)
        const smallest = expected.length > 20 ? 2 : 1
        for (const limit of [smallest, 7, expected.length - 1, expected.length, expected.length + 1]) {
          const pages = yield* forward(path, limit)
          assert.deepStrictEqual(
            pages.flatMap((page) => page.items.map(id)),
            expected,
            `${path} by ${limit}`,
          )
          assert.isTrue(
            pages.every((page, index) => index === pages.length - 1 || page.items.length === limit),
          )
          assert.strictEqual(pages.length, Math.ceil(expected.length / limit))
          assert.isNull(pages[0]?.prev_cursor ?? null)
          if (path.includes("blacklist")) continue
          const last = pages.at(-1)
          const back = yield* backward(path, limit, last?.prev_cursor ?? null)
          const seen = [...back, ...(last === undefined ? [] : [last])].flatMap((page) => page.items.map(id))
          assert.deepStrictEqual(seen, expected, `${path} back by ${limit}`)
          // From the first page on, the way forward again.
          const again =
            back[0] === undefined ? last : yield* pageOf(`${path}&limit=500&cursor=${back[0].next_cursor}`)
          if (back[0] !== undefined) assert.deepStrictEqual(again?.items.map(id), expected.slice(limit), path)
        }
      }
    }),
  )

  scenario("a walk meets each item once that exists throughout, while others come and go", () =>
    Effect.gen(function* () {
      yield* fill
      // The order that none of them changes, of each list.
      const steady = lists.filter(({ path }) => /\?$|(opened|created)_at&direction=desc/.test(path))
      for (const { path, id } of steady) {
        const expected = (yield* pageOf(`${path}&limit=500`)).items.map(id)
        const seen: Array<unknown> = []
        let gone: TestAgent | undefined
        let page = yield* pageOf(`${path}&limit=6`)
        for (;;) {
          seen.push(...page.items.map(id))
          const come = yield* acceptedAgent(`a-${seen.length}-${path.length}`)
          yield* push(
            come,
            event({ check_id: "c-critical", status: "critical", incident_key: `of ${come.agent_id}` }),
          )
          if (gone !== undefined) yield* operate("DELETE", agentPath(gone))
          gone = come
          if (page.next_cursor === null) break
          page = yield* pageOf(`${path}&limit=6&cursor=${page.next_cursor}`)
        }
        const old = new Set(expected)
        assert.deepStrictEqual(
          seen.filter((one) => old.has(one)),
          expected,
          path,
        )
      }
    }),
  )

  scenario("lists have the order of docs/rules.md", () =>
    Effect.gen(function* () {
      yield* fill
      const agentIds = (yield* itemsOf("/api/v1/agents")).map((item) => item["agent_id"])
      assert.deepStrictEqual(agentIds, ["B", "a", "a-b", "a.b", "a:b", "a_b", "aa", "ab", "b"])
      const checks = yield* itemsOf("/api/v1/checks")
      assert.deepStrictEqual(checks, checks.toSorted(byKey((item) => [item["agent_id"], item["check_id"]])))
      const [newest, ...older] = yield* itemsOf("/api/v1/events/query?agent_id=b")
      assert.strictEqual(newest?.["observed_at"], "2026-03-01T12:00:01.000Z")
      assert.deepStrictEqual(
        older.map((item) => item["check_id"]),
        ["together", "c-unknown", "c-critical", "c-warning"],
      )
      const blocked = (yield* itemsOf("/api/v1/agents/admission/blacklist")).map((item) => item["agent_id"])
      assert.deepStrictEqual(
        blocked,
        Array.from({ length: 9 }, (_, index) => `blocked-${8 - index}`),
      )
      for (const [sort, keyOf] of Object.entries(incidentOrders)) {
        const ascending = yield* itemsOf(`/api/v1/incidents?sort=${sort}&direction=asc`)
        assert.deepStrictEqual(ascending, ascending.toSorted(byKey(keyOf)), sort)
        assert.deepStrictEqual(yield* itemsOf(`/api/v1/incidents?sort=${sort}`), ascending.toReversed(), sort)
      }
      assert.deepStrictEqual(
        yield* itemsOf("/api/v1/incidents"),
        yield* itemsOf("/api/v1/incidents?sort=status&direction=desc"),
      )
      for (const sort of ["created_at", "updated_at"]) {
        const ascending = yield* itemsOf(`/api/v1/notifiers/outbox?sort=${sort}&direction=asc`)
        assert.deepStrictEqual(
          yield* itemsOf(`/api/v1/notifiers/outbox?sort=${sort}`),
          ascending.toReversed(),
        )
        // An id is made when its row is; its first digits are that time.
        const key =
          sort === "updated_at"
            ? (item: Item) => [item["updated_at"], item["id"]]
            : (item: Item) => [item["id"]]
        assert.deepStrictEqual(ascending, ascending.toSorted(byKey(key)), sort)
      }
    }),
  )
}
