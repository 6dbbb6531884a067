import { assert, describe, it } from "@effect/vitest"
import { OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotificationType, OutboxState, Severity } from "@tocsin/contract/formats/Status"
import { outboxRecord } from "@tocsin/testing/records"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import { Duration } from "effect"
import {
  chooseInFlood,
  type Flood,
  gathered,
  MOST_IN_DIGEST,
} from "../../../src/heart/notifications/floods.ts"
import { SERVICE_STOPPED } from "../../../src/heart/notifications/recordResults.ts"

const START = Instant.fromMillis(1_769_848_200_000)
const after = (seconds: number) => Instant.plus(START, Duration.seconds(seconds))

interface Item {
  readonly row: {
    readonly id: OutboxId
    readonly event_type: NotificationType
    readonly severity: Severity
    readonly is_backfill: boolean
    readonly rotas: ReadonlyArray<string> | undefined
    readonly next_attempt_at: Instant.Instant | undefined
    readonly updated_at: Instant.Instant
    readonly last_error: string | undefined
    readonly state: OutboxState
  }
  readonly incident: { readonly announced: Severity | undefined }
}

let made = 0

const items = (
  count: number,
  severity: Severity = "warning",
  {
    byTurn = false,
    dueAt = undefined as Instant.Instant | undefined,
    type = "firing" as NotificationType,
    state = "pending" as OutboxState,
    announced = severity,
  } = {},
): ReadonlyArray<Item> =>
  Array.from({ length: count }, () => ({
    row: {
      id: OutboxId.make(uuidV7(0n, `item ${(made += 1)}`)),
      event_type: type,
      severity,
      is_backfill: byTurn,
      rotas: byTurn ? ["primary"] : undefined,
      next_attempt_at: dueAt,
      updated_at: START,
      last_error: undefined,
      state,
    },
    incident: { announced },
  }))

/** Chooses in turn at each of these seconds from what waits and what becomes due then: how many singly and together. */
const played = (...steps: ReadonlyArray<readonly [second: number, due: ReadonlyArray<Item>]>) => {
  let flood: Flood = []
  let waiting: ReadonlyArray<Item> = []
  return steps.map(([second, due]) => {
    const all = [...waiting, ...due]
    const chosen = chooseInFlood(all, flood, after(second))
    flood = chosen.flood
    const taken = new Set([...chosen.singly, ...chosen.together])
    waiting = all.filter((item) => !taken.has(item))
    return [chosen.singly.length, chosen.together.length]
  })
}

describe("a flood (docs/rules.md#floods)", () => {
  it("has five messages singly, and what follows together at the end of its minute", () => {
    assert.deepStrictEqual(played([0, items(15)], [30, []], [59, items(1)], [60, []]), [
      [5, 0],
      [0, 0],
      [0, 0],
      [0, 11],
    ])
  })

  it("counts from the first message of a minute, and begins again after it", () => {
    assert.deepStrictEqual(played([0, items(3)], [50, items(2)], [61, items(5)], [62, items(1)], [121, []]), [
      [3, 0],
      [2, 0],
      [5, 0],
      [0, 0],
      [0, 1],
    ])
  })

  it("lets a firing pass at once that is more severe than all of its minute", () => {
    assert.deepStrictEqual(
      played([0, items(6)], [10, items(2, "critical")], [20, items(1, "unknown")], [60, []]),
      [
        [5, 0],
        [1, 0],
        [0, 0],
        [0, 3],
      ],
    )
  })

  it("counts no further attempt, and lets it pass", () => {
    const all = items(6)
    const { flood } = chooseInFlood(all, [], START)
    const again = chooseInFlood([...all.slice(3, 5), ...items(1)], flood, after(5))
    assert.deepStrictEqual(
      again.singly.map(({ row }) => row.id),
      all.slice(3, 5).map(({ row }) => row.id),
    )
  })

  it("tries one again that went out singly, and does not count it twice", () => {
    const all = items(3)
    const { flood } = chooseInFlood(all, [], START)
    const failed = all.map((item) => ({
      ...item,
      row: { ...item.row, state: "retry", next_attempt_at: after(5) },
    }))
    const again = chooseInFlood([...failed, ...items(3)] as ReadonlyArray<Item>, flood, after(5))
    assert.deepStrictEqual([again.singly.length, again.together.length, again.waiting.length], [5, 0, 1])
  })

  it("takes those in retry singly that what came behind them made due", () => {
    const failed = items(2, "warning", { dueAt: after(70), state: "retry" })
    const isTogether = (updated_at: Instant.Instant, last_error: string | undefined) => {
      const due = failed.map(({ incident, row }) => ({ incident, row: { ...row, last_error, updated_at } }))
      return chooseInFlood(due, [], after(70)).together.length
    }
    assert.strictEqual(isTogether(after(70), "answered 503"), 0)
    assert.strictEqual(isTogether(after(10), "answered 503"), 2)
    assert.strictEqual(isTogether(after(70), SERVICE_STOPPED), 2)
  })

  it("lets one of many pass at once that became more severe together", () => {
    const worse = items(3, "warning", { announced: "critical" })
    assert.deepStrictEqual(played([0, items(5)], [10, worse], [60, []]), [
      [5, 0],
      [1, 0],
      [0, 2],
    ])
  })

  it("counts resolved ones apart", () => {
    const resolved = items(6, "critical", { type: "resolved" })
    assert.deepStrictEqual(played([0, [...items(5), ...resolved]], [60, []]), [
      [10, 0],
      [0, 1],
    ])
  })

  it("lets no resolved one pass, however severe its incident was", () => {
    const critical = items(1, "critical", { type: "resolved" })
    assert.deepStrictEqual(played([0, items(6, "warning", { type: "resolved" })], [10, critical], [60, []]), [
      [5, 0],
      [0, 0],
      [0, 2],
    ])
  })

  it("goes on with the rest where one message cannot have all that waits", () => {
    const { flood } = chooseInFlood(items(6), [], START)
    const full = chooseInFlood(items(MOST_IN_DIGEST), flood, after(60))
    assert.lengthOf(full.together, MOST_IN_DIGEST)
    const rest = chooseInFlood(items(7), full.flood, after(61))
    assert.deepStrictEqual([rest.singly.length, rest.together.length], [0, 7])
  })

  it("goes together at its end also for a server that claims after another one", () => {
    const { flood } = chooseInFlood(items(6), [], START)
    const first = chooseInFlood(items(18), flood, after(60))
    const second = chooseInFlood(items(12), first.flood, after(60))
    assert.deepStrictEqual([first.together.length, second.together.length], [18, 12])
  })

  it("is the same minute for a server whose clock is a little behind", () => {
    const { flood } = chooseInFlood(items(5), [], after(0.005))
    assert.lengthOf(chooseInFlood(items(3, "warning"), flood, START).singly, 0)
  })

  it("begins anew after one of which nothing waits any more", () => {
    const { flood } = chooseInFlood(items(6), [], START)
    const later = chooseInFlood(items(6, "warning", { dueAt: after(3_600) }), flood, after(3_600))
    assert.deepStrictEqual([later.singly.length, later.together.length], [5, 0])
  })

  it("has more than five of one turn together at once", () => {
    assert.deepStrictEqual(played([0, items(6, "warning", { byTurn: true })]), [[0, 6]])
    assert.deepStrictEqual(played([0, items(5, "warning", { byTurn: true })]), [[5, 0]])
  })

  it("has others wait until a minute after it began", () => {
    const all = items(7)
    assert.deepStrictEqual(
      chooseInFlood(all, [], START).waiting,
      all.slice(5).map((item) => [item, after(60)] as const),
    )
  })

  it("lets what waits pass before something more severe of its incident", () => {
    const worse = { announced: "critical" } as const
    assert.deepStrictEqual(
      played([0, [...items(6), ...items(1, "warning", worse)]], [1, items(1, "critical")], [60, []]),
      [
        [6, 0],
        [1, 0],
        [0, 1],
      ],
    )
  })

  it("repeats together what failed as one message", () => {
    const tried = { state: "retry", dueAt: after(65) } as const
    const failed = items(6, "warning", tried)
    assert.deepStrictEqual(played([0, items(5)], [65, [...failed, ...items(1)]], [66, items(5)]), [
      [5, 0],
      [1, 6],
      [4, 0],
    ])
    assert.deepStrictEqual(played([0, items(1)], [65, items(1, "warning", tried)]), [
      [1, 0],
      [1, 0],
    ])
  })

  it("keeps when an attempt ended at one that waits to be tried again", () => {
    const waiting = (state: OutboxState) =>
      gathered(outboxRecord("one", "disk", { state, updated_at: START }), after(60), after(9))
    assert.deepStrictEqual(
      [waiting("retry"), waiting("pending")].map(({ updated_at }) => updated_at),
      [START, after(9)],
    )
  })

  it("begins again where a clock was set back", () => {
    const { flood } = chooseInFlood(items(6), [], after(3_600))
    assert.strictEqual(chooseInFlood(items(1), flood, START).together.length, 1)
  })
})
