import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import fc from "fast-check"
import { type CheckStatus, wireEvent } from "../../src/agent/CheckReport.ts"
import { MemoryTail, type OutgoingResult } from "../../src/agent/ResultQueue.ts"
import { MemoryQueue } from "../../src/program/MemoryQueue.ts"

const STATUSES: ReadonlyArray<CheckStatus> = ["ok", "critical"]
const LIMIT = 8

/** An event of the queue: a report, a batch, the answer to it, or the end. */
const deed = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("report" as const), check: fc.nat(2), status: fc.nat(1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("take" as const), limit: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("taken" as const, "refused" as const, "put back" as const),
    }),
  },
)

const report = (check: number, status: number) => ({
  checkId: `check-${check}`,
  status: STATUSES[status] ?? "ok",
  exitCode: status,
  durationMillis: 0,
  output: "",
  notificationsEnabled: true,
})

const timeOf = ({ body }: OutgoingResult): number =>
  Date.parse((JSON.parse(body) as { readonly observed_at: string }).observed_at)

describe("reports in memory", () => {
  it("are each delivered, rejected, dropped, superseded or waiting, and the bound holds", () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 80 }), (deeds) => {
        const queue = new MemoryQueue(LIMIT)
        let inFlight: ReadonlyArray<OutgoingResult> = []
        const [times, sent] = [new Map<string, number>(), new Map<string, string>()]
        let clock = 1_000
        for (const act of deeds) {
          // A clock that is set back must not make a result older than the last.
          clock += act.kind === "report" && act.check === 0 ? -7 : 10
          const before = queue.counts()
          if (act.kind === "report") queue.add(report(act.check, act.status), clock)
          else if (act.kind === "take" && inFlight.length === 0) inFlight = queue.take(act.limit, 10_000)
          else if (act.kind === "taken") {
            queue.acknowledge(inFlight)
            for (const one of inFlight) {
              assert.isAbove(timeOf(one), times.get(one.checkId) ?? 0, "times of a check increase")
              times.set(one.checkId, timeOf(one))
            }
            inFlight = []
          } else if (act.kind === "refused" && inFlight[0] !== undefined) {
            const [first, ...others] = inFlight
            queue.putBack(others)
            queue.reject(first)
            inFlight = []
          } else if (act.kind === "put back") {
            queue.putBack(inFlight)
            inFlight = []
          }
          for (const { id, body } of inFlight) {
            assert.strictEqual(sent.get(id) ?? body, body, "a result keeps its id and its time")
            sent.set(id, body)
          }
          const counts = queue.counts()
          assert.strictEqual(counts["in_flight"], inFlight.length)
          assert.strictEqual(counts.queued + counts["in_flight"], queue.size())
          assert.isAtMost(queue.size(), LIMIT)
          for (const end of ["delivered", "rejected", "dropped"] as const)
            assert.isAtLeast(counts[end], before[end], `${end} is an end`)
        }
        const waiting = queue.size()
        const dropped = queue.counts().dropped
        assert.strictEqual(queue.giveUp(), waiting)
        // Answers that arrive later change nothing.
        queue.acknowledge(inFlight)
        assert.deepInclude(queue.counts(), { queued: 0, in_flight: 0, dropped: dropped + waiting })
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it("keep the first and the last of equal ones, and drop repeats before changes", () => {
    const queue = new MemoryQueue(4)
    const bodies = () =>
      queue
        .take(10, 10_000)
        .map(({ checkId, body }) => `${checkId} ${(JSON.parse(body) as { status: string }).status}`)
    for (let at = 1; at <= 5; at++) queue.add(report(0, 0), at)
    assert.deepInclude(queue.counts(), { queued: 2, dropped: 0 })
    for (const [check, status] of [
      [1, 1],
      [1, 0],
      [1, 1],
    ] as const)
      queue.add(report(check, status), 10)
    assert.deepInclude(queue.counts(), { queued: 4, dropped: 1 })
    assert.deepStrictEqual(bodies(), ["check-0 ok", "check-1 critical", "check-1 ok", "check-1 critical"])
  })

  it("fit into a batch by their bytes, and the rest does not count as in flight", () => {
    const queue = new MemoryQueue()
    for (let check = 0; check < 3; check++) queue.add({ ...report(check, 0), output: "x".repeat(8_000) }, 1)
    assert.lengthOf(queue.take(200, 17_000), 2)
    assert.deepInclude(queue.counts(), { queued: 1, in_flight: 2 })
    assert.isTrue(queue.hasChange())
  })

  it("have no change once it is delivered or refused, so that repeats wait for others", () => {
    const queue = new MemoryQueue()
    queue.add(report(0, 0), 1)
    queue.add(report(1, 1), 1)
    const [first, ...others] = queue.take(10, 10_000)
    queue.acknowledge(others)
    assert.isTrue(queue.hasChange())
    queue.reject(first ?? assert.fail("nothing was taken"))
    queue.add(report(0, 0), 2)
    assert.isFalse(queue.hasChange())
  })
})

it("holds no more of a report than its event will carry", () => {
  const tail = new MemoryTail()
  const long = { ...report(0, 1), output: `summary ${"x".repeat(1_000_000)}` }
  const pending = { id: "00000000-0000-7000-8000-000000000000", at: 0 }
  tail.add({ ...pending, report: long }, 10)
  const [kept] = tail.all()
  assert.isAtMost(kept?.report.output.length ?? Infinity, 8_192)
  const [sent] = tail.take(1, new Map())
  assert.deepStrictEqual(JSON.parse(sent?.body ?? ""), JSON.parse(JSON.stringify(wireEvent(long, pending))))
})

it("remembers the last results of 10,000 checks, and those of the check that reported longest ago no more", () => {
  const queue = new MemoryQueue(20_000)
  const taken = () => queue.acknowledge(queue.take(20_000, Infinity))
  for (let check = 0; check < 10_000; check += 1) {
    queue.add(report(check, 0), 0)
    if (check % 100 === 99) taken()
  }
  queue.add(report(0, 0), 1)
  queue.add(report(1, 0), 1)
  assert.isFalse(queue.hasChange())
  taken()
  queue.add(report(10_000, 0), 2)
  taken()
  for (const [check, isChange] of [
    [0, false],
    [1, false],
    [2, true],
  ] as const) {
    queue.add(report(check, 0), 3)
    assert.strictEqual(queue.hasChange(), isChange, `${check}`)
  }
})
