import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import fc from "fast-check"
import type { Answer, RequestKind, Verdict } from "../../src/agent/Answer.ts"
import { afterAnswer, initialSubmission, nextStep, type Submission } from "../../src/agent/Submission.ts"

const VERDICTS: ReadonlyArray<Verdict> = [
  "taken",
  "pending",
  "notAccepted",
  "blocked",
  "conflict",
  "unauthorized",
  "throttled",
  "invalid",
  "missing",
  "faulty",
]

const answered = (
  state: Submission,
  kind: RequestKind,
  verdict: Verdict,
  more: Partial<Answer> & { events?: number; now?: number; tookMillis?: number; servers?: number } = {},
) =>
  afterAnswer(
    state,
    {
      kind,
      server: state.server,
      events: more.events ?? 0,
      now: more.now ?? 0,
      tookMillis: more.tookMillis ?? 0,
    },
    { verdict, message: "", retryAfterMillis: more.retryAfterMillis },
    { servers: more.servers ?? 1, random: () => 1 },
  )

const START = initialSubmission(0)
const ACCEPTED = answered(START, "heartbeat", "taken").state
const BUSY = { eventsDue: 0, hasSchedule: false }

describe("sending", () => {
  it("begins with a heartbeat, and sends results once the key is accepted", () => {
    assert.strictEqual(nextStep(START, BUSY, 0).kind, "heartbeat")
    assert.strictEqual(nextStep(ACCEPTED, BUSY, 0).kind, "events")
    const pending = answered(START, "heartbeat", "pending").state
    assert.deepStrictEqual(nextStep(pending, BUSY, 0), { kind: "wait", until: 60_000 })
    assert.strictEqual(nextStep(pending, BUSY, 60_000).kind, "heartbeat")
  })

  it("declares before it sends results, unless a declaration has just failed", () => {
    const waiting = { eventsDue: 0, hasSchedule: true }
    assert.strictEqual(nextStep(ACCEPTED, waiting, 0).kind, "declaration")
    const declared = answered(ACCEPTED, "declaration", "taken").state
    assert.strictEqual(nextStep(declared, waiting, 0).kind, "events")
    const failed = answered(ACCEPTED, "declaration", "faulty").state
    assert.strictEqual(nextStep(failed, waiting, failed.declarationDue).kind, "events")
  })

  it("sends results although its heartbeat is invalid, also right after a start", () => {
    for (const before of [START, ACCEPTED]) {
      const { state } = answered(before, "heartbeat", "invalid")
      assert.strictEqual(nextStep(state, BUSY, 0).kind, "events")
      assert.strictEqual(state.heartbeatDue, 300_000)
    }
  })

  it("sends at most five batches a second", () => {
    const { state, deed } = answered(ACCEPTED, "events", "taken", { events: 200, now: 1_000 })
    assert.strictEqual(deed, "remove")
    assert.deepStrictEqual(nextStep(state, BUSY, 1_000), { kind: "wait", until: 1_200 })
  })

  it("waits as long as Retry-After asks, and backs off to five minutes", () => {
    const { state } = answered(ACCEPTED, "events", "throttled", { retryAfterMillis: 42_000 })
    assert.strictEqual(state.notBefore, 42_000)
    const windows = (begin: Submission, kind: RequestKind) => {
      let failed = begin
      return Array.from({ length: 20 }, () => {
        failed = answered(failed, kind, "faulty").state
        return failed.notBefore / 1_000
      })
    }
    const accepted = windows(ACCEPTED, "events")
    assert.deepStrictEqual([...accepted.slice(0, 6), accepted.at(-1)], [1, 10, 40, 80, 160, 300, 300])
    const unknown = windows(START, "heartbeat")
    assert.deepStrictEqual([...unknown.slice(0, 4), unknown.at(-1)], [1, 2, 4, 8, 300])
  })

  it("tries a heartbeat again once, and then sends the next when it is due", () => {
    const once = answered({ ...ACCEPTED, heartbeatDue: 5_000 }, "heartbeat", "faulty", { now: 7_000 }).state
    assert.deepStrictEqual([once.notBefore, once.heartbeatDue], [8_000, 5_000])
    const twice = answered(once, "heartbeat", "faulty", { now: 8_000 }).state
    assert.deepStrictEqual([twice.notBefore, twice.heartbeatDue], [18_000, 65_000])
    const idle = { eventsDue: undefined, hasSchedule: false }
    assert.deepStrictEqual(nextStep(twice, idle, 20_000), { kind: "wait", until: 65_000 })
    assert.strictEqual(nextStep(twice, BUSY, 20_000).kind, "events")
  })

  it("asks the next server without a wait, and backs off after the last", () => {
    const second = answered(ACCEPTED, "events", "faulty", { servers: 2 }).state
    assert.deepStrictEqual([second.server, second.notBefore, second.failures], [1, 0, 0])
    const first = answered(second, "events", "faulty", { servers: 2 }).state
    assert.deepStrictEqual([first.server, first.notBefore, first.failures], [0, 1_000, 1])
  })

  it("asks the first server again five minutes after the start", () => {
    const second = { ...ACCEPTED, server: 1 }
    assert.deepInclude(nextStep(second, BUSY, 299_999), { server: 1 })
    assert.deepInclude(nextStep(second, BUSY, 300_000), { server: 0 })
  })

  it("asks a blocked key again after ten minutes, and conflicts and 401 after five", () => {
    assert.strictEqual(answered(ACCEPTED, "events", "blocked").state.notBefore, 600_000)
    for (const verdict of ["conflict", "unauthorized"] as const) {
      assert.strictEqual(answered(START, "heartbeat", verdict).state.notBefore, 300_000)
    }
  })

  it("finds a refused event by halving, in as many batches as halvings take, and loses no other", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.uniqueArray(fc.nat(999), { maxLength: 5 }),
        (size, bad) => {
          const refused = new Set(bad.filter((one) => one < size))
          const queue = Array.from({ length: size }, (_, index) => index)
          const [taken, rejected]: [Array<number>, Array<number>] = [[], []]
          let state = ACCEPTED
          let requests = 0
          while (queue.length > 0) {
            requests += 1
            const batch = queue.slice(0, state.batchLimit)
            const isRefused = batch.some((one) => refused.has(one))
            const next = answered(state, "events", isRefused ? "invalid" : "taken", { events: batch.length })
            if (next.deed === "remove") taken.push(...queue.splice(0, batch.length))
            if (next.deed === "reject") rejected.push(...queue.splice(0, 1))
            state = next.state
          }
          assert.deepStrictEqual(new Set(rejected), refused)
          assert.deepStrictEqual(
            taken,
            Array.from({ length: size }, (_, index) => index).filter((one) => !refused.has(one)),
          )
          assert.isAtMost(requests, 15 + Math.ceil(size / 200) + 60 * refused.size)
        },
      ),
      { numRuns: propertyRuns(200) },
    )
  })

  it("makes batches that the link carries within the time of an answer, however slow it is", () => {
    const LIMIT_MILLIS = 15_000
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: LIMIT_MILLIS - 1 }),
        fc.integer({ min: 1, max: 2 }),
        (each, servers) => {
          let [state, now, waiting] = [ACCEPTED, 0, 400]
          let unanswered = 0
          while (waiting > 0 && unanswered < 20) {
            const events = Math.min(waiting, state.batchLimit)
            const took = events * each
            const tookMillis = Math.min(took, LIMIT_MILLIS)
            now = Math.max(now, state.notBefore) + tookMillis
            const verdict = took < LIMIT_MILLIS ? "taken" : "faulty"
            const next = answered(state, "events", verdict, { events, now, tookMillis, servers })
            if (next.deed === "remove") waiting -= events
            else unanswered += 1
            state = next.state
          }
          assert.isAtMost(unanswered, 8, "a batch that was too large is not tried again")
        },
      ),
      { numRuns: propertyRuns(200) },
    )
  })

  it("does not make batches smaller where a server is unreachable", () => {
    const { state } = answered(ACCEPTED, "events", "faulty", { events: 200 })
    assert.strictEqual(state.batchLimit, 200)
  })

  it("never stands still and never hurries, whatever the answers", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...VERDICTS), fc.nat(200)), { maxLength: 60 }),
        (answers) => {
          let [state, now] = [START, 0]
          for (const [verdict, events] of answers) {
            const step = nextStep(state, BUSY, now)
            assert.isBelow(step.kind === "wait" ? step.until - now : 0, 3_600_001)
            if (step.kind === "wait") now = step.until
            const next = nextStep(state, BUSY, now)
            assert.notStrictEqual(next.kind, "wait")
            if (next.kind === "wait") return
            state = answered(state, next.kind, verdict, {
              events: next.kind === "events" ? events + 1 : 0,
              now,
            }).state
            assert.isAtLeast(state.notBefore, now)
          }
        },
      ),
      { numRuns: propertyRuns(300) },
    )
  })
})
