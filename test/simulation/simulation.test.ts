import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { simulate } from "@tocsin/simulation/simulate"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { SimulationReport, SimulationSettings } from "@tocsin/simulation/SimulationReport"
import { toIncident } from "@tocsin/core/heart/usecases/shownIncidents"
import { Duration, Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { oneOf } from "../properties/arbitraries.ts"
import { type Course, runService } from "./LiveService.ts"
import { script, scriptWithActs, type Step } from "./Script.ts"

const rules = {
  notifiers: ["debug", "webhook", "alert_router"],
  deadAfter: Duration.seconds(30),
} as const satisfies SimulationSettings

// Nothing that is simulated depends on it; in the service it must not be more than the time after
// which agents are dead.
const STALE_AFTER = Duration.seconds(10)

/** Something that two courses are compared by: ids, which each draws for itself, are left out. */
type Comparable = ReadonlyArray<object>

const texts = (facts: Comparable): ReadonlyArray<string> =>
  facts.map((fact) =>
    JSON.stringify(fact, (_, value: unknown) =>
      typeof value === "bigint" ? Instant.format(Instant.fromMicros(value)) : value,
    ),
  )

const incidentsOfService = ({ scenarios }: Course): Comparable =>
  scenarios.map(({ incident, changes }) => ({
    ...toIncident(incident),
    id: undefined,
    timeline: changes
      .toReversed()
      .map(({ changed_at, change, agent_id, check_id, severity, incident_severity }) => ({
        at: changed_at,
        change,
        agent_id,
        check_id,
        severity,
        incident_severity: incident_severity ?? null,
      })),
  }))

const incidentsOfSimulation = ({ incidents }: SimulationReport): Comparable =>
  incidents.map((incident) => ({ ...incident, id: undefined }))

const notificationsOfService = ({ notifications }: Course): Comparable =>
  notifications.map(({ at, notification }) => ({
    at,
    notifier: notification.notifier,
    event_type: notification.event_type,
    cause: notification.cause ?? null,
    severity: notification.severity,
    summary: notification.summary ?? null,
    incident_key: notification.incident.incident_key,
    agent_id: notification.incident.agent_id ?? null,
    check_id: notification.incident.check_id ?? null,
    members: notification.incident.members,
  }))

const notificationsOfSimulation = ({ notifications }: SimulationReport): Comparable =>
  notifications.map(({ incident_id: _, ...notification }) => notification)

/** Each waits, escalates or reminds within the minutes of a script. */
const POLICIES: ReadonlyArray<PolicyDocument> = [
  {},
  {
    routes: [
      {
        match: [{ field: "check_id", op: "=", value: "0" }],
        steps: [{ to: ["debug"] }, { after: Duration.seconds(30), to: ["webhook"] }],
        remind: Duration.seconds(40),
      },
      { match: [{ field: "severity", op: "=", value: "critical" }], to: ["alert_router"] },
    ],
  },
  {
    routes: [
      {
        after: Duration.seconds(20),
        to: ["debug"],
        flapping: { openings: 2, within: Duration.minutes(2), after: Duration.seconds(50) },
      },
      {
        match: [{ field: "check_id", op: "=", value: "1" }],
        after: Duration.seconds(5),
        to: ["webhook"],
        remind: Duration.seconds(60),
      },
    ],
    windows: [
      {
        name: "maintenance",
        cron: "*/3 * * * *",
        tz: "UTC",
        for: Duration.seconds(75),
        match: [{ field: "agent_id", op: "glob", value: "web-*" }],
      },
    ],
  },
]

const unsentOfService = ({ outbox }: Course): Comparable =>
  outbox
    .filter(({ state }) => state === "discarded" || state === "pending")
    .map(({ cause, created_at, receiver, severity, state }) => ({
      enqueued_at: created_at,
      receiver,
      cause: cause ?? null,
      severity,
      isHeld: state === "pending",
    }))

const unsentOfSimulation = ({ unsent = [] }: SimulationReport): Comparable =>
  unsent.map(({ cause, enqueued_at, reason, receiver, severity }) => ({
    enqueued_at,
    receiver,
    cause,
    severity,
    isHeld: reason === "still_held",
  }))

const sorted = (facts: Comparable): ReadonlyArray<string> => texts(facts).toSorted()

describe("a simulation", () => {
  it.effect.prop(
    "has the incidents and notifications of a service with the same requests",
    { steps: script },
    ({ steps }) =>
      Effect.gen(function* () {
        const course = yield* runService(steps, { ...rules, staleAfter: STALE_AFTER })
        const report = simulate(course.lines, { ...rules, until: course.endedAt })
        assert.deepStrictEqual(report.refused, [])
        assert.deepStrictEqual(sorted(incidentsOfSimulation(report)), sorted(incidentsOfService(course)))
        assert.deepStrictEqual(
          sorted(notificationsOfSimulation(report)),
          sorted(notificationsOfService(course)),
        )
      }),
    { arbitrary: { runs: propertyRuns(60) } },
  )

  it.effect.prop(
    "sends and withholds as a service does under a policy and with acts of people",
    { steps: scriptWithActs, policy: oneOf(...POLICIES) },
    ({ policy, steps }) =>
      Effect.gen(function* () {
        const course = yield* runService(steps, { ...rules, staleAfter: STALE_AFTER, policy })
        const report = simulate(course.lines, { ...rules, policy, until: course.endedAt })
        assert.deepStrictEqual(report.refused, [])
        assert.deepStrictEqual(sorted(incidentsOfSimulation(report)), sorted(incidentsOfService(course)))
        assert.deepStrictEqual(
          sorted(
            notificationsOfSimulation(report).map((sent) => ({
              ...sent,
              receiver: undefined,
              held_for_seconds: undefined,
              held_by: undefined,
            })),
          ),
          sorted(notificationsOfService(course)),
        )
        assert.deepStrictEqual(sorted(unsentOfSimulation(report)), sorted(unsentOfService(course)))
      }),
    { arbitrary: { runs: propertyRuns(40) } },
  )

  it.effect("frees a firing in the round after its silence was ended by hand, as a service does", () =>
    Effect.gen(function* () {
      const result = { check: 0, exitCode: 2, key: undefined, isLoud: true, skew: 0, output: undefined }
      const silence = "upgrade"
      const course = yield* runService(
        [
          { step: "add", silence, match: "check_id = 0", delay: 0, seconds: 60 },
          { step: "results", agent: 0, results: [{ ...result, status: "critical", isRepeated: false }] },
          { step: "expire", silence },
          { step: "wait", millis: 20_000 },
        ],
        { ...rules, staleAfter: STALE_AFTER },
      )
      const report = simulate(course.lines, { ...rules, until: course.endedAt })
      const expected = rules.notifiers.map(() => "2026-01-31T08:30:05.000Z")
      for (const { notifications } of [report, course])
        assert.deepStrictEqual(
          notifications.map(({ at }) => Instant.format(at)),
          expected,
        )
    }),
  )

  it.effect("notifies the receivers of the labels that an agent has when its incident opens", () =>
    Effect.gen(function* () {
      const result = { check: 0, exitCode: 2, key: undefined, isLoud: true, skew: 0, output: undefined }
      const turns = (status: "critical" | "ok"): Step => ({
        step: "results",
        agent: 0,
        results: [{ ...result, status, isRepeated: false }],
      })
      const steps = ["db", "web", undefined].flatMap((team): ReadonlyArray<Step> => [
        { step: "heartbeat", agent: 0, ...(team !== undefined && { team }) },
        ...[turns("critical"), turns("ok")].flatMap((one) => [one, { step: "wait", millis: 3_000 } as const]),
      ])
      const routes = (["db", "web"] as const).map((value, n) => ({
        match: [{ field: "label:team", op: "=", value } as const],
        to: [["debug", "webhook"][n] ?? ""] as const,
      }))
      const policy = { routes: [...routes, { to: ["alert_router"] as const }] }
      const course = yield* runService(steps, { ...rules, staleAfter: STALE_AFTER, policy })
      const report = simulate(course.lines, { ...rules, policy, until: course.endedAt })
      const firings = report.notifications.filter(({ event_type }) => event_type === "firing")
      const receivers = ["debug", "alert_router", "webhook", "alert_router", "alert_router"]
      assert.sameMembers(
        firings.map(({ notifier }) => notifier),
        receivers,
      )
      assert.sameMembers(
        course.notifications
          .filter(({ notification }) => notification.event_type === "firing")
          .map(({ notification }) => notification.notifier),
        receivers,
      )
    }),
  )

  it.effect.prop(
    "has the same from the history that the service lists, except what history omits",
    { steps: script },
    ({ steps }) =>
      Effect.gen(function* () {
        const course = yield* runService(steps.flatMap(apart), { ...rules, staleAfter: STALE_AFTER })
        const page = { items: course.history, next_cursor: null }
        const report = simulate([JSON.stringify(page)], { ...rules, until: course.endedAt })
        const oldestFirst = course.history.toReversed().map((item) => JSON.stringify(item))
        assert.deepStrictEqual(simulate(oldestFirst, { ...rules, until: course.endedAt }), report)
        assert.deepStrictEqual(
          sorted(incidentsOfSimulation(report).map(told)),
          sorted(incidentsOfService(course).filter(isOfChecks).map(told)),
        )
        assert.deepStrictEqual(
          sorted(notificationsOfSimulation(report).map(told)),
          sorted(notificationsOfService(course).filter(isOfChecks).map(told)),
        )
      }),
    { arbitrary: { runs: propertyRuns(60) } },
  )
})

/** The history does not distinguish two batches at one instant from one batch. */
const apart = (step: Step): ReadonlyArray<Step> =>
  step.step === "results" ? [{ step: "wait", millis: 1 }, step] : [step]

/** Heartbeats are not in the history, nor are results that only brought another text. */
const isOfChecks = (fact: object): boolean =>
  !("incident_key" in fact && String(fact.incident_key).endsWith("/@heartbeat"))
const told = (fact: object): object => ({ ...fact, summary: undefined })
