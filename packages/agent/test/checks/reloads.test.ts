import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import fc from "fast-check"
import { vi } from "vitest"
import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import { CheckRunner } from "../../src/checks/CheckRunner.ts"
import { confirmResult, type SoftState, softStateOf } from "@tocsin/contract/checks/confirmResult"
import type { RunOutcome } from "../../src/checks/runCommand.ts"
import type { RunCheck } from "../../src/config/readConfig.ts"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const STATUSES: ReadonlyArray<CheckStatus> = ["ok", "warning", "critical", "unknown"]
const CONFIRM = { bad: 2, good: 2, everyMillis: 10 * SECOND }

const probeOf = (name: string): RunCheck["work"] => ({
  kind: "probe",
  probe: { name, lane: "host", settings: {}, run: () => assert.fail("it is not started here") },
})

/** Of each lane one: what a reload may make of a check. */
const WORKS: ReadonlyArray<RunCheck["work"]> = [
  { kind: "command", argv: ["a"] },
  probeOf("tcp"),
  probeOf("load"),
]

interface Run {
  readonly id: string
  readonly work: RunCheck["work"]
  isPlanned: boolean
  isStopped: boolean
  /** Its result has come. */
  isOver: boolean
  /** Its processes survive SIGKILL. */
  isStuck: boolean
  readonly end: (status: CheckStatus, isStuck: boolean) => void
}

const planned = fc.record({
  id: fc.constantFrom("a", "b", "c"),
  minutes: fc.constantFrom(1, 2),
  work: fc.constantFrom(...WORKS),
})
const reload = fc.record({
  kind: fc.constant("reload" as const),
  checks: fc.uniqueArray(planned, { selector: ({ id }) => id, minLength: 1, maxLength: 3 }),
})
const pass = fc.record({ kind: fc.constant("pass" as const), seconds: fc.integer({ min: 1, max: 90 }) })
const end = fc.record({
  kind: fc.constant("end" as const),
  run: fc.nat(3),
  status: fc.constantFrom(...STATUSES),
  isStuck: fc.nat(5).map((one) => one === 0),
})
const die = fc.record({ kind: fc.constant("die" as const) })
const move = fc.oneof(
  { weight: 2, arbitrary: reload },
  { weight: 3, arbitrary: pass },
  { weight: 3, arbitrary: end },
  { weight: 1, arbitrary: die },
)
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never

/** A host whose runs end when the scenario says, and that holds every reload to the laws. */
class Host {
  readonly #begun = performance.now()
  readonly #runs: Array<Run> = []
  /** By check: its confirmation, from its own results alone. */
  readonly #soft = new Map<string, SoftState>()
  readonly #reported: Array<string> = []
  readonly #expected: Array<string> = []
  readonly runner = new CheckRunner({
    clock: { steady: () => this.#now(), wall: () => this.#now(), sinceBoot: () => this.#now() },
    start: ({ id, work }) => this.#start(id, work),
    report: ({ checkId, status }) => void this.#reported.push(`${checkId} ${status}`),
    keep: () => {},
    lastOf: () => undefined,
    skipped: (id) => {
      // Then its deadline reports that it is stuck.
      if (this.runner.stuck().includes(id)) this.#expect(id, "unknown")
    },
  })

  #now = (): number => performance.now() - this.#begun

  #start(id: string, work: RunCheck["work"]) {
    const live = this.#runs.filter((run) => run.id === id && run.isPlanned && (!run.isOver || run.isStuck))
    assert.lengthOf(live, 0, `${id} runs once at a time`)
    let resolve: (outcome: RunOutcome & { readonly durationMillis: number }) => void = () => {}
    const outcome = new Promise<RunOutcome & { readonly durationMillis: number }>((done) => (resolve = done))
    const run: Run = {
      id,
      work,
      isPlanned: true,
      isStopped: false,
      isOver: false,
      isStuck: false,
      end: (status, isStuck) => {
        run.isOver = true
        run.isStuck = isStuck
        if (run.isPlanned) this.#expect(id, status)
        resolve({
          status,
          exitCode: STATUSES.indexOf(status),
          output: "",
          droppedBytes: 0,
          durationMillis: 1,
        })
      },
    }
    this.#runs.push(run)
    const inLane = this.#runs.filter((each) => each.work === work && !each.isOver)
    assert.isAtMost(inLane.length, 1, "no more than max_parallel of a lane run")
    const gone = outcome.then(() => !run.isStuck)
    return { outcome, gone, isAlive: () => run.isStuck, stop: () => void (run.isStopped = true) }
  }

  #expect(id: string, status: CheckStatus): void {
    const { state, isReported } = confirmResult(this.#soft.get(id) ?? softStateOf(undefined), status, CONFIRM)
    this.#soft.set(id, state)
    if (isReported) this.#expected.push(`${id} ${status}`)
  }

  async live(act: Move): Promise<void> {
    if (act.kind === "reload") this.#reload(act.checks)
    else if (act.kind === "pass") await vi.advanceTimersByTimeAsync(act.seconds * SECOND)
    else if (act.kind === "die") for (const run of this.#runs) run.isStuck = false
    else {
      const live = this.#runs.filter(({ isOver }) => !isOver)
      live[act.run % Math.max(1, live.length)]?.end(act.status, act.isStuck)
    }
    // Finished checks are followed within this turn.
    await vi.advanceTimersByTimeAsync(0)
    this.#verify()
  }

  #reload(checks: ReadonlyArray<{ id: string; minutes: number; work: RunCheck["work"] }>): void {
    const ids = new Set(checks.map(({ id }) => id))
    for (const run of this.#runs) if (!ids.has(run.id)) run.isPlanned = false
    for (const id of this.#soft.keys()) if (!ids.has(id)) this.#soft.delete(id)
    this.runner.plan({
      agentId: "host",
      checks: new Map(checks.map((each) => [each.id, checkOf(each)])),
      maxParallel: 1,
    })
  }

  #verify(): void {
    for (const run of this.#runs)
      assert.isTrue(run.isPlanned || run.isOver || run.isStopped, `the run of ${run.id} was stopped`)
    assert.deepStrictEqual(this.#reported, this.#expected, "the reported runs")
    const stuck = this.#runs.filter(({ isPlanned, isStuck }) => isPlanned && isStuck).map(({ id }) => id)
    for (const id of stuck) assert.include(this.runner.stuck(), id, "a stuck check stays known")
  }

  /** All runs are over: each check of a last configuration must get its turn, and the end leaves nothing. */
  async end(checks: ReadonlyArray<{ id: string; minutes: number; work: RunCheck["work"] }>): Promise<void> {
    this.#reload(checks)
    for (const run of this.#runs) {
      if (!run.isOver) run.end("ok", false)
      run.isStuck = false
    }
    const before = this.#runs.length
    for (let second = 0; second < 5 * 60; second++) {
      await vi.advanceTimersByTimeAsync(SECOND)
      for (const run of this.#runs) if (!run.isOver) run.end("ok", false)
    }
    const ran = new Set(this.#runs.slice(before).map(({ id }) => id))
    for (const { id } of checks) assert.isTrue(ran.has(id), `${id} gets its turn`)
    const stopped = this.runner.stop()
    await vi.advanceTimersByTimeAsync(2 * SECOND)
    await stopped
    assert.strictEqual(vi.getTimerCount(), 0, "no timer is left")
  }

  /** Ends where processes survive: the daemon does not wait for them. */
  async stopStuck(): Promise<void> {
    for (const run of this.#runs) if (!run.isOver) run.end("ok", true)
    await vi.advanceTimersByTimeAsync(0)
    void this.runner.stop()
    await vi.advanceTimersByTimeAsync(2 * SECOND)
    assert.strictEqual(vi.getTimerCount(), 0, "no timer is left where processes are")
  }
}

const checkOf = ({
  id,
  minutes,
  work,
}: {
  id: string
  minutes: number
  work: RunCheck["work"]
}): RunCheck => ({
  kind: "run",
  id,
  work,
  everyMillis: minutes * MINUTE,
  timeoutMillis: 30 * SECOND,
  env: new Map(),
  confirm: CONFIRM,
  incidentKey: undefined,
  notificationsEnabled: true,
  graceMillis: undefined,
  severity: undefined,
  incident: undefined,
  labels: new Map(),
  numbers: undefined,
})

describe("reloads between runs", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const moves = fc.array(move, { minLength: 5, maxLength: 40 })

  it("stop what is removed, keep what runs, and lose neither a confirmation nor room", async () => {
    await fc.assert(
      fc.asyncProperty(
        moves,
        fc.uniqueArray(planned, { selector: ({ id }) => id, minLength: 1, maxLength: 3 }),
        async (scenario, last) => {
          vi.clearAllTimers()
          const host = new Host()
          for (const act of scenario) await host.live(act)
          await host.end(last)
        },
      ),
      { numRuns: propertyRuns(200) },
    )
  })

  it("and the end leave no timer, also where processes survive", async () => {
    await fc.assert(
      fc.asyncProperty(moves, async (scenario) => {
        vi.clearAllTimers()
        const host = new Host()
        for (const act of scenario) await host.live(act)
        await host.stopStuck()
      }),
      { numRuns: propertyRuns(50) },
    )
  })
})
