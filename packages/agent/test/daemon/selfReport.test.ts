import { assert, describe, it } from "@effect/vitest"
import { metricsPage } from "../../src/daemon/metricsServer.ts"
import { growthOf, selfReport, type SelfState } from "../../src/daemon/selfReport.ts"

const NOW = Date.UTC(2026, 0, 1)
const MINUTE = 60_000

const WELL: SelfState = {
  now: NOW,
  backlog: 3,
  oldestAt: NOW - 2 * MINUTE,
  offset: 4_000,
  growth: new Map(),
  skipped: [],
  stuck: [],
  isOnDisk: true,
  notTaken: "",
  refusedSchedule: undefined,
  checks: 12,
}

const grown = (name: string, count: number, at = NOW - MINUTE) => ({
  growth: new Map([[name, { count, at }]]),
})

describe("the agent's own check", () => {
  it("is ok with its number of checks, and states the backlog as performance data", () => {
    const { status, output, exitCode } = selfReport(WELL)
    assert.deepStrictEqual([status, exitCode], ["ok", 0])
    assert.strictEqual(output, "TOCSIN-AGENT OK - 12 checks | backlog=3 oldest=120s")
  })

  it.each<[Partial<SelfState>, "warning" | "critical", string]>([
    [grown("dropped_changes", 2), "critical", "2 changes of status were dropped"],
    [{ isOnDisk: false }, "critical", "the disk refuses results, which wait in memory"],
    [{ notTaken: "results of other users wait: full" }, "critical", "results of other users wait: full"],
    [{ stuck: ["nfs"] }, "critical", "processes cannot be killed: nfs"],
    [grown("damaged", 1), "warning", "the spool was damaged"],
    [grown("rejected", 4), "warning", "4 results were refused for good"],
    [grown("dated_ahead", 9), "warning", "9 results were dated ahead"],
    [{ oldestAt: NOW - 6 * MINUTE }, "warning", "results wait for 6 minutes"],
    [{ offset: -61_000 }, "warning", "the clock is off by -61 s"],
    [{ refusedSchedule: "400 no" }, "warning", "the server refuses the schedule: 400 no"],
    [{ skipped: ["a", "b", "c", "d", "e", "f"] }, "warning", "runs were skipped: a, b, c, d, e and 1 more"],
  ])("with %j is %s: %s", (trouble, status, words) => {
    const report = selfReport({ ...WELL, ...trouble })
    assert.deepStrictEqual([report.status, report.exitCode], [status, status === "warning" ? 1 : 2])
    assert.include(report.output, `${status.toUpperCase()} - ${words} | backlog=`)
  })

  it("is ok though repeats were dropped: the server would not have stored them", () => {
    assert.strictEqual(selfReport({ ...WELL, ...grown("dropped_repeats", 9) }).status, "ok")
    assert.isFalse(growthOf(new Map(), new Map([["dropped_repeats", "9"]]), NOW).has("dropped_repeats"))
  })

  it("states the worst trouble first, and all of it", () => {
    const { status, output } = selfReport({ ...WELL, isOnDisk: false, skipped: ["a"] })
    assert.strictEqual(status, "critical")
    assert.include(output, "the disk refuses results, which wait in memory; runs were skipped: a")
  })

  it("remembers a loss for a day after it grew last, and a restart does not renew it", () => {
    const notes = new Map([["rejected", "4"]])
    const first = growthOf(new Map(), notes, NOW)
    const later = growthOf(first, notes, NOW + MINUTE)
    assert.deepStrictEqual(later.get("rejected"), { count: 4, at: NOW })
    const at = (now: number) => selfReport({ ...WELL, now, oldestAt: undefined, growth: later }).status
    assert.deepStrictEqual([at(NOW + 1_439 * MINUTE), at(NOW + 1_441 * MINUTE)], ["warning", "ok"])
    // A clock that is set back since does not keep it.
    assert.strictEqual(at(NOW - 1_441 * MINUTE), "ok")
    const more = growthOf(later, new Map([["rejected", "5"]]), NOW + MINUTE)
    assert.deepStrictEqual(more.get("rejected"), { count: 5, at: NOW + MINUTE })
  })
})

describe("the metrics", () => {
  it("are a page that Prometheus reads, with every state of the agent", () => {
    const page = metricsPage({
      own: WELL,
      states: new Map([["web", { status: "critical", exitCode: 2, observedAt: NOW }]]),
      notes: new Map([["dropped_repeats", "7"]]),
    })
    const lines = page.trimEnd().split("\n")
    const samples = new Map(lines.filter((line) => !line.startsWith("#")).map((line) => split(line)))
    assert.strictEqual(samples.get('tocsin_agent_check_status{check="web"}'), 2)
    assert.strictEqual(samples.get('tocsin_agent_dropped_results_total{kind="repeat"}'), 7)
    assert.strictEqual(samples.get('tocsin_agent_dropped_results_total{kind="change"}'), 0)
    assert.strictEqual(samples.get("tocsin_agent_backlog_oldest_seconds"), 120)
    assert.strictEqual(samples.get("tocsin_agent_clock_offset_seconds"), 4)
    for (const [name, value] of samples) {
      assert.isFalse(Number.isNaN(value), name)
      const [family] = name.split("{")
      assert.include(page, `# HELP ${family} `)
      assert.match(page, new RegExp(`^# TYPE ${family} (gauge|counter)$`, "m"))
    }
  })
})

const split = (line: string): [name: string, value: number] => {
  const at = line.lastIndexOf(" ")
  return [line.slice(0, at), Number(line.slice(at + 1))]
}
