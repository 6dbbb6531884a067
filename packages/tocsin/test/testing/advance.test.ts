import { assert, describe, it } from "@effect/vitest"
import { NotifierName } from "@tocsin/contract/formats/Status"
import type { DeliveryResult, Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { propertyRuns, RUNS_FACTOR } from "@tocsin/testing/propertyRuns"
import { Effect } from "effect"
import * as fc from "fast-check"
import type { CheckResultEvent, PolicyOption } from "../../src/index.ts"
import { alertRouter, type NotifierOption } from "../../src/notifiers/notifiers.ts"
import { makeTestMonitor, type TestMonitor } from "../../src/testing/createTestMonitor.ts"
import { nextDue } from "../../src/testing/advance.ts"

/** Something is always due, so that no loop ever sleeps through a round. */
const always: typeof nextDue = Effect.fnUntraced(function* (_, now) {
  return yield* Effect.succeed(now)
})

/** A receiver's answers to its attempts, one after the other, again and again. */
type Answer = "delivered" | "deferred" | "later" | "refused" | "thrown"

interface Step {
  readonly act:
    | "heartbeat"
    | "result"
    | "accept"
    | "remove"
    | "replay"
    | "silence"
    | "unsilence"
    | "policy"
    | "declare"
    | "label"
    | "later silence"
    | "ping"
    | "nothing"
  readonly agent: string
  readonly status: CheckResultEvent["status"]
  /** How long nothing is done afterwards. */
  readonly seconds: number
}

interface Scenario {
  readonly thresholds: readonly [staleAfter: number, deadAfter: number]
  readonly lease: number
  readonly answers: ReadonlyArray<Answer>
  /** How many attempts get no answer, before all others. */
  readonly silences: number
  readonly steps: ReadonlyArray<Step>
}

const CHECK = "disk"
const DEFERRED = { outcome: "deferred", error: "The receiver is busy." } as const

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  thresholds: fc.constantFrom([2, 3.5], [7, 20], [120, 300], [61.001, 900.007]),
  lease: fc.constantFrom(7, 60, 180),
  answers: fc.array(fc.constantFrom<Answer>("delivered", "deferred", "later", "refused", "thrown"), {
    minLength: 1,
    maxLength: 6,
  }),
  // Each costs a second of real time.
  silences: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
  steps: fc.array(
    fc.record({
      act: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom<Step["act"]>("heartbeat", "result") },
        {
          weight: 1,
          arbitrary: fc.constantFrom<Step["act"]>("accept", "remove", "replay", "declare", "nothing"),
        },
        { weight: 2, arbitrary: fc.constantFrom<Step["act"]>("label", "later silence", "ping") },
        { weight: 2, arbitrary: fc.constantFrom<Step["act"]>("silence", "unsilence", "policy") },
      ),
      agent: fc.constantFrom("a", "b"),
      status: fc.constantFrom("ok", "warning", "critical"),
      seconds: fc.oneof(
        fc.constantFrom(0, 1, 5, 300, 600),
        fc.integer({ min: 1, max: 1_200_000 }).map((millis) => millis / 1_000),
      ),
    }),
    { minLength: 1, maxLength: 10 },
  ),
})

const POLICIES: ReadonlyArray<PolicyOption> = [
  { routes: [{ after: "20m" }] },
  { freshness: [{ match: [`check_id = ${CHECK}`], every: "1m" }] },
  {},
  { routes: [{ remind: "15m" }], freshness: [{ match: ["agent_id = a"], every: "2m" }] },
  {
    routes: [{ match: ["label:team = db"], remind: "15m", after: "5m" }, { match: ["label:team != db"] }],
    windows: [{ name: "noon", cron: "7 * * * *", tz: "UTC", for: "3m", match: [`check_id = ${CHECK}`] }],
    freshness: [{ match: ["label:team = db"], every: "3m" }],
  },
  {
    dependencies: [{ parent: ["incident_key = b/@heartbeat"], child: ["agent_id = a"], grace: "2m" }],
    windows: [{ name: "teams", cron: "3 * * * *", tz: "UTC", for: "5m", match: ["label:team = db"] }],
  },
]

const DECLARED = { check_id: CHECK, every: "90s" }

/** Steps of the agent `a`, 31 s long. */
const stepsOf = (...log: ReadonlyArray<Step["act"]>): ReadonlyArray<Step> =>
  log.map((act) => ({ act, agent: "a", status: "critical", seconds: 31 }))

const plain = (steps: ReadonlyArray<Step>): Scenario => ({
  thresholds: [120, 300],
  lease: 60,
  answers: ["delivered"],
  silences: 0,
  steps,
})

/** Acts whose effect is found by loops that are idle at other times. */
const ACTS: ReadonlyArray<Scenario> = [
  plain(stepsOf("silence", "result", "unsilence")),
  // A policy with `after`, and one without.
  plain(stepsOf("policy", "result", "policy")),
  // A job that reports once, and is looked at long after.
  plain([...stepsOf("ping"), { act: "nothing", agent: "a", status: "ok", seconds: 1_800 }]),
  // Its policy compares labels: the fifth.
  plain([
    ...stepsOf("policy"),
    { act: "result", agent: "a", status: "critical", seconds: 400 },
    { act: "label", agent: "a", status: "ok", seconds: 1_740 },
  ]),
  plain([...stepsOf("result", "later silence"), { act: "nothing", agent: "a", status: "ok", seconds: 900 }]),
  plain(stepsOf("declare", ...Array<Step["act"]>(20).fill("heartbeat"))),
  // A policy is found in the first round after passes that a walk makes, and an advance leaves out.
  {
    ...plain([]),
    thresholds: [2, 3.5],
    lease: 7,
    answers: ["deferred"],
    steps: [
      { act: "silence", agent: "a", status: "ok", seconds: 0 },
      { act: "heartbeat", agent: "a", status: "ok", seconds: 899.081 },
      { act: "heartbeat", agent: "a", status: "ok", seconds: 0.001 },
      { act: "policy", agent: "a", status: "ok", seconds: 0.001 },
      { act: "nothing", agent: "a", status: "ok", seconds: 4.917 },
    ],
  },
]

const BEGINNING: ReadonlyArray<Step> = [
  { act: "heartbeat", agent: "a", status: "ok", seconds: 1 },
  { act: "heartbeat", agent: "b", status: "ok", seconds: 0 },
  { act: "accept", agent: "a", status: "ok", seconds: 0 },
  { act: "result", agent: "a", status: "warning", seconds: 0 },
]

/** Tells a scenario to a monitor, and everything that anybody can see of it afterwards. */
const tell = async (
  scenario: Scenario,
  due: typeof nextDue,
  parts: ReadonlyArray<number> = [],
): Promise<ReadonlyArray<unknown>> => {
  const seen: Array<unknown> = []
  let now = () => ""
  const note = (what: unknown) => seen.push([now(), what])
  // The address is not used: the test has its own alert router.
  const receivers = [pager(scenario, note), alertRouter({ url: "http://127.0.0.1:9" })]
  const [staleAfter, deadAfter] = scenario.thresholds
  await using monitor = await makeTestMonitor(
    {
      notifiers: receivers,
      staleAfter: staleAfter * 1_000,
      deadAfter: deadAfter * 1_000,
      deliveryLease: scenario.lease * 1_000,
      retention: {
        history: "15m",
        incidents: "25m",
        outbox: "20m",
        pending: "10m",
      },
      log: ({ level, message }) => seen.push([now(), level, message]),
    },
    due,
    { alert_router: router(scenario, note) },
  )
  now = monitor.now
  for (const [index, step] of [...BEGINNING, ...scenario.steps].entries()) {
    await act(monitor, step, index)
    // 516.934 × 1,000 is no whole number of milliseconds.
    let left = Math.round(step.seconds * 1_000)
    for (const part of parts) {
      const millis = Math.floor(left * part)
      left -= millis
      await monitor.advance(millis)
    }
    await monitor.advance(left)
    seen.push(now(), ...(await visible(monitor)))
  }
  return seen
}

const act = async (
  monitor: TestMonitor,
  { act: what, agent, status }: Step,
  results: number,
): Promise<void> => {
  const observed_at = monitor.now()
  const key = `key-of-${agent}`
  // A refused call, such as a result of an unknown agent, is refused to both.
  switch (what) {
    case "heartbeat":
    case "label":
      return void (await monitor
        .heartbeat(key, {
          agent_id: agent,
          observed_at,
          hostname: agent,
          features: { push: true, metrics: false },
          ...(what === "label" && { labels: { team: results % 2 === 0 ? "db" : "web" } }),
        })
        .outcome())
    case "result": {
      const event_id = `01900000-0000-7000-8000-${String(results).padStart(12, "0")}`
      const event = {
        event_id,
        check_id: CHECK,
        observed_at,
        status,
        exit_code: 0,
        duration_ms: 1,
        output: status,
      }
      return void (await monitor.events(key, { agent_id: agent, events: [event] }).outcome())
    }
    case "accept":
      return void (await monitor.agents.acceptAll().outcome())
    case "remove":
      return void (await monitor.agents.remove(agent).outcome())
    case "replay": {
      const [item] = (await monitor.outbox.list({ state: "failed" })).items
      if (item !== undefined) await monitor.outbox.replay(item.id).outcome()
      return
    }
    case "silence":
      return void (await monitor.silences
        .create({
          matchers: [{ field: "agent_id", op: "=", value: agent }],
          for: "2h",
          comment: "repair",
          by: "alice",
        })
        .outcome())
    case "later silence":
      return void (await monitor.silences
        .create({
          matchers: [{ field: "agent_id", op: "=", value: agent }],
          starts_at: new Date(Date.parse(observed_at) + 400_000).toISOString(),
          for: "7m",
          comment: "repair",
        })
        .outcome())
    case "ping": {
      // A second integration of the name is refused to both.
      const made = await monitor.integrations.create({ name: `jobs-${agent}`, kind: "ping" }).outcome()
      const key = made.ok ? made.value.key : (await monitor.integrations.rotate(`jobs-${agent}`, {})).key
      const path = `in/ping/${key}/${CHECK}?every=3m&after=5m&severity=critical`
      return void (await monitor.fetch(new Request(`http://localhost/${path}`)))
    }
    case "unsilence": {
      const [silence] = (await monitor.silences.list({ state: "active" })).items
      if (silence !== undefined) await monitor.silences.expire(silence.id).outcome()
      return
    }
    case "policy":
      return void (await monitor.setPolicy(POLICIES[results % POLICIES.length] ?? {}))
    case "declare":
      return void (await monitor.expectations(key, agent, { checks: [DECLARED] }).outcome())
    case "nothing":
      return
  }
}

const visible = async (monitor: TestMonitor): Promise<ReadonlyArray<unknown>> => {
  const incidents = (await monitor.incidents.list()).items
  const explained = ["a", "b"].map((agent) =>
    monitor.checks.explain({ agent_id: agent, check_id: CHECK }).outcome(),
  )
  return [
    structuredClone(monitor.notifications),
    (await monitor.agents.list()).items,
    (await monitor.checks.list()).items,
    (await monitor.history.list()).items,
    incidents,
    await Promise.all(incidents.map(({ id }) => monitor.incidents.get(id))),
    (await monitor.outbox.list()).items,
    await monitor.summary(),
    await Promise.all(explained),
    (await monitor.integrations.list()).items,
  ]
}

const inTurn = (answers: ReadonlyArray<Answer>) => {
  let attempts = 0
  return () => answers[attempts++ % answers.length] ?? "delivered"
}

const pager = ({ answers, silences }: Scenario, note: (what: unknown) => void): NotifierOption => {
  const next = inTurn(answers)
  let unanswered = silences
  return {
    name: "pager",
    send: ({ id, event_type, severity, attempt }, { signal }) => {
      const answer = unanswered-- > 0 ? "silent" : next()
      note(["pager", id, event_type, severity, attempt, answer])
      switch (answer) {
        case "thrown":
          throw new Error("the receiver is away")
        case "silent":
          // Its time ends by the clock of the monitor, unless the monitor closes before.
          return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
        case "later":
          return { ...DEFERRED, retryAfterSeconds: 90 }
        case "deferred":
          return DEFERRED
        case "refused":
          return { outcome: "refused", error: "The receiver knows nobody." }
        case "delivered":
          return
      }
    },
  }
}

/** A receiver that is sent again what it may have forgotten. */
const router = ({ answers }: Scenario, note: (what: unknown) => void): Notifier => {
  const next = inTurn(answers)
  const answer = (): DeliveryResult => (next() === "deferred" ? DEFERRED : { outcome: "delivered" })
  const kind = NotifierName.make("alert_router")
  return {
    kind,
    send: ({ id }) =>
      Effect.sync(() => {
        note(["router", id])
        return answer()
      }),
    resend: (alerts) =>
      Effect.sync(() => {
        note(["router again", alerts.map(({ alert }) => alert)])
        return answer()
      }),
    test: Effect.succeed({ result: { outcome: "delivered" }, status: 200 }),
  }
}

describe("advance", () => {
  it("has the same outcomes as a walk through every round of every loop", async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        assert.deepStrictEqual(await tell(scenario, nextDue), await tell(scenario, always))
      }),
      {
        numRuns: propertyRuns(20),
        examples: ACTS.map((scenario): [Scenario] => [scenario]),
        // Shrinking a scenario that fails ends before the test's own limit, so that the seed is reported.
        interruptAfterTimeLimit: Math.max(30_000, 60_000 * RUNS_FACTOR),
      },
    )
  })

  it("has the same outcomes as many shorter ones", async () => {
    await fc.assert(
      fc.asyncProperty(
        scenarios,
        fc.array(fc.double({ min: 0, max: 0.5, noNaN: true }), { minLength: 1, maxLength: 10 }),
        async (scenario, parts) => {
          assert.deepStrictEqual(await tell(scenario, nextDue), await tell(scenario, nextDue, parts))
        },
      ),
      { numRuns: propertyRuns(6), interruptAfterTimeLimit: Math.max(30_000, 60_000 * RUNS_FACTOR) },
    )
  })

  it("stops in three days only where retention looks, and where something happens", async () => {
    let stops = 0
    await using monitor = await makeTestMonitor({}, (idle, now, began) => {
      stops += 1
      return nextDue(idle, now, began)
    })
    await act(monitor, { act: "heartbeat", agent: "a", status: "ok", seconds: 0 }, 0)
    await monitor.agents.acceptAll()
    await monitor.advance("3d")
    assert.strictEqual(monitor.now(), "2026-01-04T00:00:00.000Z")
    assert.deepStrictEqual(
      monitor.notifications.map(({ created_at }) => created_at),
      ["2026-01-01T00:05:00.000Z"],
    )
    const looksOfRetention = 3 * 24 * 6
    // For five minutes each after it went silent, and after it was found dead, loops look each second.
    assert.isBelow(stops, looksOfRetention + 620)
  })
})
