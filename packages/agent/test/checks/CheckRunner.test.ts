import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import fc from "fast-check"
import { vi } from "vitest"
import type { RunOutcome } from "../../src/checks/runCommand.ts"
import { CheckRunner, offsetOf } from "../../src/checks/CheckRunner.ts"
import type { Confirmation, RunCheck } from "../../src/config/readConfig.ts"
import type { CheckReport, CheckStatus } from "@tocsin/reporting/agent/CheckReport"

const MINUTE = 60_000
const CODES: ReadonlyArray<CheckStatus> = ["ok", "warning", "critical", "unknown"]

const checkOf = (id: string, everyMillis = MINUTE, confirm?: Confirmation): RunCheck => ({
  kind: "run",
  id,
  work: { kind: "command", argv: [id] },
  everyMillis,
  timeoutMillis: 30_000,
  env: new Map(),
  confirm,
  incidentKey: undefined,
  notificationsEnabled: true,
  graceMillis: undefined,
  severity: undefined,
  incident: undefined,
  labels: new Map(),
  numbers: undefined,
})

interface Work {
  /** How long a run takes; forever without it. */
  readonly millis?: number | undefined
  readonly status?: CheckStatus
  /** Whether its processes survive SIGKILL. */
  readonly isStuck?: boolean
}

/** A host whose time passes as the test says. */
const makeHost = (work: (id: string) => Work, last = new Map<string, number>()) => {
  let [suspended, stalled] = [0, 0]
  const begun = performance.now()
  const steady = () => performance.now() - begun + stalled
  const wall = () => Date.UTC(2026, 0, 1) + steady() + suspended
  const starts: Array<{ readonly id: string; readonly at: number }> = []
  const reports: Array<CheckReport> = []
  const skipped: Array<string> = []
  const stuck = new Set<string>()
  let [running, most] = [0, 0]
  const runner = new CheckRunner({
    clock: { steady, wall, sinceBoot: wall },
    start: ({ id }) => {
      starts.push({ id, at: steady() })
      most = Math.max(most, ++running)
      const { millis, status = "ok", isStuck = false } = work(id)
      if (isStuck) stuck.add(id)
      const outcome = new Promise<RunOutcome & { readonly durationMillis: number }>((resolve) => {
        if (millis === undefined) return
        const result = { status, exitCode: CODES.indexOf(status), output: id, droppedBytes: 0 }
        setTimeout(() => resolve({ ...result, durationMillis: millis }), millis)
      })
      const gone = outcome.then(() => {
        running -= 1
        return !isStuck
      })
      return { outcome, gone, isAlive: () => stuck.has(id), stop: () => {} }
    },
    report: (report) => void reports.push(report),
    keep: () => {},
    lastOf: (id) => {
      const observedAt = last.get(id)
      return observedAt === undefined ? undefined : { status: "ok", observedAt }
    },
    skipped: (id) => void skipped.push(id),
  })
  const plan = (checks: ReadonlyArray<RunCheck>, maxParallel = 8): void =>
    runner.plan({ agentId: "host", checks: new Map(checks.map((one) => [one.id, one])), maxParallel })
  return {
    runner,
    plan,
    starts,
    reports,
    skipped,
    stuck,
    startsOf: (id: string) => starts.filter((one) => one.id === id).map(({ at }) => at),
    most: () => most,
    /** The wall clock goes on, and timers and the steady clock stand still. */
    suspend: (millis: number) => void (suspended += millis),
    /** The time goes on, and no timer runs. */
    stall: (millis: number) => void (stalled += millis),
    pass: (millis: number) => vi.advanceTimersByTimeAsync(millis),
  }
}

describe("the runner", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("runs a new check within ten seconds, and then once a period at its own offset", async () => {
    const host = makeHost(() => ({ millis: 5 }))
    host.plan(["a", "b", "c"].map((id) => checkOf(id)))
    await host.pass(10 * MINUTE)
    for (const id of ["a", "b", "c"]) {
      const [first = Infinity, ...later] = host.startsOf(id)
      assert.isAtMost(first, 10_000, id)
      const gaps = later.slice(1).map((at, index) => Math.round(at - (later[index] ?? 0)))
      assert.deepStrictEqual(new Set(gaps), new Set([MINUTE]), id)
    }
  })

  it("reports no run of a check that was removed, also where the check is back before the run ends", async () => {
    let runs = 0
    const host = makeHost(() => ({ millis: runs++ === 0 ? MINUTE : undefined }))
    host.plan([checkOf("a", 60 * MINUTE)])
    await host.pass(10_000)
    host.plan([])
    host.plan([checkOf("a", 60 * MINUTE)])
    await host.pass(MINUTE)
    assert.deepStrictEqual([host.starts.length, host.reports], [2, []])
  })

  it("keeps the phase of a check that has a recent result, so that a restart runs nothing again", async () => {
    const last = Date.UTC(2026, 0, 1) - 10_000
    const host = makeHost(() => ({ millis: 5 }), new Map([["a", last]]))
    host.plan([checkOf("a")])
    await host.pass(MINUTE)
    const phase = (((offsetOf("host", "a", MINUTE) - Date.UTC(2026, 0, 1)) % MINUTE) + MINUTE) % MINUTE
    assert.deepStrictEqual(
      host.startsOf("a").map((at) => Math.round(at)),
      [Math.round(phase)],
    )
  })

  it("spreads checks of one period over all of it", () => {
    const tenths = Array.from({ length: 10 }, () => 0)
    for (let check = 0; check < 1_000; check++) {
      const tenth = Math.floor(offsetOf(`host-${check % 50}`, `check-${check}`, MINUTE) / (MINUTE / 10))
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    for (const count of tenths) assert.isAbove(count, 50)
  })

  it("never runs more than max_parallel at once, and starts the others in order of due time", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 1, max: 120_000 }), { minLength: 1, maxLength: 12 }),
        async (parallel, durations) => {
          const host = makeHost((id) => ({ millis: durations[Number(id)] ?? 1 }))
          host.plan(
            durations.map((_, index) => checkOf(String(index))),
            parallel,
          )
          await host.pass(10_000 + 120_000 * durations.length)
          assert.isAtMost(host.most(), parallel)
          for (const index of durations.keys()) assert.isAbove(host.startsOf(String(index)).length, 0)
        },
      ),
      { numRuns: propertyRuns(20) },
    )
  })

  it("starts what waited longest first", async () => {
    const host = makeHost(() => ({ millis: 20_000 }))
    const ids = ["a", "b", "c", "d", "e"]
    host.plan(
      ids.map((id) => checkOf(id, 600_000)),
      1,
    )
    await host.pass(5 * MINUTE)
    const dueOf = (id: string) => offsetOf("host", id, 600_000) % 10_000
    const byDue = ids.toSorted((a, b) => dueOf(a) - dueOf(b))
    assert.deepStrictEqual(
      host.starts.map(({ id }) => id),
      byDue,
    )
  })

  it("starts no check again that still runs, and counts what it left out", async () => {
    const host = makeHost(() => ({ millis: 150_000 }))
    host.plan([checkOf("slow")])
    await host.pass(10 * MINUTE)
    const gaps = host
      .startsOf("slow")
      .slice(1)
      .map((at, index) => at - (host.startsOf("slow")[index] ?? 0))
    for (const gap of gaps) assert.isAtLeast(gap, 150_000)
    assert.strictEqual(host.most(), 1)
    assert.isAtLeast(host.skipped.length, 4)
  })

  it("counts what it left out for want of room, and nothing that only ran late", async () => {
    const ids = Array.from({ length: 20 }, (_, number) => `c${number}`)
    const host = makeHost(() => ({ millis: 8_000 }))
    const checks = ids.map((id) => checkOf(id))
    host.plan(checks, 4)
    await host.pass(10 * MINUTE)
    assert.deepStrictEqual(host.skipped, [])
    host.plan(checks, 1)
    await host.pass(10 * MINUTE)
    assert.deepStrictEqual(new Set(host.skipped), new Set(ids))
  })

  it("keeps no check waiting for hanging ones of another kind", async () => {
    const hanging = Array.from({ length: 20 }, (_, index) => `hanging-${index}`)
    const probe = (lane: "network" | "host") => ({
      name: lane,
      title: lane,
      lane,
      settings: {},
      run: () => Promise.reject(new Error()),
    })
    const network = { kind: "probe", probe: probe("network") } as const
    const own = { kind: "probe", probe: probe("host") } as const
    for (const [work, others] of [
      [network, ["command", "own"]],
      [checkOf("hanging").work, ["network", "own"]],
    ] as const) {
      const host = makeHost((id) => ({ millis: hanging.includes(id) ? 30_000 : 5 }))
      const works = { command: checkOf("command").work, network, own }
      host.plan(
        [
          ...hanging.map((id) => ({ ...checkOf(id, 10_000), work })),
          ...others.map((id) => ({ ...checkOf(id, 10_000), work: works[id] })),
        ],
        4,
      )
      await host.pass(10 * MINUTE)
      for (const id of others) assert.isAtLeast(host.startsOf(id).length, 60, id)
      assert.isTrue(hanging.every((id) => host.startsOf(id).length > 0))
      void host.runner.stop()
    }
  })

  it("reports a check whose processes survive SIGKILL each time it is due, and runs it once they are gone", async () => {
    const host = makeHost((id) => ({ millis: 10, isStuck: id === "stuck" && host.startsOf(id).length === 1 }))
    host.plan([checkOf("stuck"), checkOf("other")], 1)
    await host.pass(5 * MINUTE)
    assert.deepStrictEqual(host.runner.stuck(), ["stuck"])
    assert.isAbove(host.startsOf("other").length, 3, "it gives its place to others")
    const said = host.reports.filter(({ checkId }) => checkId === "stuck").slice(1)
    assert.isAtLeast(said.length, 4)
    for (const one of said) assert.match(one.output, /^still running \d+(\.\d)? s after it was killed$/)
    assert.strictEqual(host.startsOf("stuck").length, 1)
    host.stuck.clear()
    await host.pass(2 * MINUTE)
    assert.deepStrictEqual(host.runner.stuck(), [])
    assert.isAtLeast(host.startsOf("stuck").length, 2)
  })

  it("runs each check once after the host was suspended or its clock stepped, without a burst", async () => {
    const host = makeHost(() => ({ millis: 5 }))
    host.plan(["a", "b"].map((id) => checkOf(id)))
    await host.pass(5 * MINUTE)
    const before = host.starts.length
    host.suspend(600 * MINUTE)
    await host.pass(MINUTE)
    assert.strictEqual(host.starts.length - before, 2)
    host.suspend(-1_000 * MINUTE)
    await host.pass(MINUTE)
    assert.strictEqual(host.starts.length - before, 4)
  })

  it("runs each check once after the agent itself stood still, and keeps its offset", async () => {
    const host = makeHost(() => ({ millis: 5 }))
    host.plan([checkOf("a")])
    await host.pass(2 * MINUTE)
    const before = host.startsOf("a").at(-1) ?? 0
    host.stall(100.25 * MINUTE)
    await host.pass(MINUTE)
    const [first = 0, second = 0, ...more] = host.startsOf("a").filter((at) => at > before)
    assert.deepStrictEqual(more, [])
    assert.isAtMost(second - first, MINUTE)
    assert.strictEqual(Math.round((second - before) % MINUTE), 0)
  })

  it("looks again after confirm.every at an unconfirmed change, and reports it once it is confirmed", async () => {
    let status: CheckStatus = "ok"
    const host = makeHost(() => ({ millis: 5, status }))
    host.plan([checkOf("web", 5 * MINUTE, { bad: 3, good: 2, everyMillis: 10_000 })])
    await host.pass(6 * MINUTE)
    const settled = host.reports.length
    status = "critical"
    await host.pass(5 * MINUTE + 21_000)
    const [change] = host.reports.slice(settled).filter((one) => one.status !== "ok")
    assert.strictEqual(change?.status, "critical")
    const times = host.startsOf("web").slice(-3)
    assert.deepStrictEqual(
      times.slice(1).map((at, index) => Math.round((at - (times[index] ?? 0)) / 1_000)),
      [10, 10],
    )
    status = "ok"
    await host.pass(5 * MINUTE + 11_000)
    assert.strictEqual(host.reports.at(-1)?.status, "ok")
  })

  it("keeps the deadlines of checks that a new configuration leaves as they are, and ends others", async () => {
    const host = makeHost(() => ({ millis: 5 }))
    host.plan([checkOf("kept"), checkOf("removed")])
    await host.pass(2 * MINUTE)
    const removed = host.startsOf("removed").length
    host.plan([checkOf("kept"), checkOf("added")])
    await host.pass(2 * MINUTE)
    assert.strictEqual(host.startsOf("removed").length, removed)
    assert.isAbove(host.startsOf("added").length, 1)
    const kept = host.startsOf("kept").slice(1)
    for (const [index, at] of kept.slice(1).entries())
      assert.strictEqual(Math.round(at - (kept[index] ?? 0)), MINUTE)
  })

  it("reports nothing of a check that was removed while it ran", async () => {
    const host = makeHost(() => ({ millis: 20_000 }))
    host.plan([checkOf("gone")])
    await host.pass(11_000)
    host.plan([])
    await host.pass(MINUTE)
    assert.deepStrictEqual(host.reports, [])
  })
})
