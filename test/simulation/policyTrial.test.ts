import { assert, describe, it } from "@effect/vitest"
import { type AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { StoredCheckResultEvent } from "@tocsin/contract/v1/Resources"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { type PastEntry, Trial } from "@tocsin/simulation/Trial"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { type EventChanges, eventOf } from "@tocsin/testing/samples"
import { Duration, Effect, Schema } from "effect"
import { oneOf } from "../properties/arbitraries.ts"
import { type Course, runService } from "./LiveService.ts"
import { AGENTS, scriptWithActs, type Step } from "./Script.ts"

const rules = {
  notifiers: ["debug", "webhook"],
  deadAfter: Duration.seconds(30),
  staleAfter: Duration.seconds(10),
}

const POLICIES: ReadonlyArray<PolicyDocument> = [
  {},
  {
    routes: [
      {
        after: Duration.seconds(20),
        steps: [{ to: ["debug"] }, { after: Duration.seconds(45), to: ["webhook"] }],
      },
      { match: [{ field: "check_id", op: "=", value: "1" }], to: ["webhook"], remind: Duration.seconds(60) },
    ],
  },
]

const decodeStored = Schema.decodeUnknownSync(StoredCheckResultEvent)

/** The past, as a service's tables show it. */
const pastOf = ({ endedAt, history, silences, scenarios }: Course): ReadonlyArray<PastEntry> => {
  const results = history.toReversed().map((item): PastEntry => {
    const { agent_id, received_at, ...event } = decodeStored(item)
    return { entry: "results", agent_id, at: received_at, events: [{ ...event, observed_at: received_at }] }
  })
  const others = scenarios.flatMap(({ log, incident }): ReadonlyArray<PastEntry> => {
    const { incident_key, kind, opened_at, opener_agent_id: agent_id, resolved_at } = incident
    const died: ReadonlyArray<PastEntry> = incident_key.endsWith("/@heartbeat")
      ? [
          { entry: "died", agent_id, at: opened_at },
          ...(resolved_at === undefined ? [] : [{ entry: "returned", agent_id, at: resolved_at } as const]),
        ]
      : []
    return [
      ...died,
      ...log.flatMap(({ ack_until: until, action, logged_at: at }): ReadonlyArray<PastEntry> => {
        if (action === "acknowledged" && until !== undefined)
          return [{ entry: "acknowledged", kind, incident_key, until, at }]
        return action === "withdrawn" ? [{ entry: "withdrawn", kind, incident_key, at }] : []
      }),
    ]
  })
  const silenced = silences.flatMap((silence): ReadonlyArray<PastEntry> =>
    silence.starts_at < silence.ends_at && silence.starts_at <= endedAt
      ? [{ entry: "silenced", silence, at: silence.starts_at }]
      : [],
  )
  return [...silenced, ...others, ...results].toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1))
}

/** Requests of one moment would be one batch in the history; apart, each is its own. */
const apart = (step: Step): ReadonlyArray<Step> =>
  step.step === "results"
    ? step.results.flatMap((result): ReadonlyArray<Step> => [
        { step: "wait", millis: 1 },
        { ...step, results: [result] },
      ])
    : [{ step: "wait", millis: 1 }, step]

const countsOf = (receivers: Iterable<string>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const receiver of receivers) counts[receiver] = (counts[receiver] ?? 0) + 1
  return counts
}

describe("a trial of a policy", () => {
  it.effect.prop(
    "counts the messages that a service with this policy has sent",
    { steps: scriptWithActs, policy: oneOf(...POLICIES) },
    ({ policy, steps }) =>
      Effect.gen(function* () {
        const course = yield* runService(steps.flatMap(apart), { ...rules, policy })
        const start = Instant.fromMicros(0n)
        const agents = AGENTS.map((agent_id) => ({ agent_id, hostname: agent_id }))
        const options = { staleAfter: rules.staleAfter, agents, start, since: start }
        const trial = new Trial({ policy, notifiers: rules.notifiers }, options)
        const past = pastOf(course)
        for (let from = 0; from < past.length; from += 7) trial.take(past.slice(from, from + 7))
        const { messages, held } = trial.end(course.endedAt)
        assert.deepStrictEqual(
          Object.fromEntries(messages),
          countsOf(course.notifications.map(({ notification }) => notification.receiver)),
        )
        const unsent = course.outbox.filter(({ state }) => state === "discarded" || state === "pending")
        assert.deepStrictEqual(
          held.reduce((sum, { firings, outcome }) => sum + (outcome === "sent" ? 0 : firings), 0),
          unsent.length,
        )
      }),
    { arbitrary: { runs: propertyRuns(40) } },
  )

  it("acknowledges the incident that people did, not another one whose key has the same text", () => {
    const at = (seconds: number) => Instant.fromMicros(BigInt(seconds) * 1_000_000n)
    const start = at(0)
    const [a = assert.fail("there is no agent"), b = assert.fail("there is no second agent")] = AGENTS
    const incident_key = IncidentKey.make(`${a}/disk`)
    const critical = (agent_id: AgentId, number: number, changes: EventChanges): PastEntry => {
      const event = eventOf(number, { ...changes, observed_at: at(10) })
      return { entry: "results", agent_id, at: at(10), events: [event] }
    }
    const policy: PolicyDocument = {
      routes: [{ steps: [{ to: ["debug"] }, { after: Duration.seconds(45), to: ["webhook"] }] }],
    }
    const trial = new Trial(
      { policy, notifiers: rules.notifiers },
      {
        staleAfter: defaultRules.staleAfter,
        agents: [a, b].map((agent_id) => ({ agent_id, hostname: agent_id })),
        start,
        since: start,
      },
    )
    const acknowledged = { entry: "acknowledged", kind: "named", incident_key, until: at(500) } as const
    trial.take([
      critical(a, 1, { check_id: "disk" }),
      critical(b, 2, { check_id: "site", incident_key }),
      { ...acknowledged, at: at(20) },
      { ...acknowledged, kind: "automatic", at: at(30) },
      { entry: "withdrawn", kind: "automatic", incident_key, at: at(40) },
    ])
    assert.deepStrictEqual(Object.fromEntries(trial.end(at(200)).messages), { debug: 2, webhook: 1 })
  })

  it("compares the labels of checks before those of their agents", () => {
    const at = (seconds: number) => Instant.fromMicros(BigInt(seconds) * 1_000_000n)
    const [agent_id = assert.fail("there is no agent")] = AGENTS
    const labelled = [{ check_id: CheckId.make("disk"), labels: { team: "db" } }]
    const ofTeam = (value: string, receiver: string) => ({
      match: [{ field: "label:team", op: "=", value } as const],
      to: [receiver] as const,
    })
    const trial = new Trial(
      { policy: { routes: [ofTeam("db", "debug"), ofTeam("web", "webhook")] }, notifiers: rules.notifiers },
      {
        staleAfter: defaultRules.staleAfter,
        agents: [{ agent_id, hostname: "db", labels: { team: "web" }, labelled }],
        start: at(0),
        since: at(0),
      },
    )
    const critical = (number: number, check_id: string): PastEntry => {
      const event = eventOf(number, { check_id, observed_at: at(10) })
      return { entry: "results", agent_id, at: at(10), events: [event] }
    }
    trial.take([critical(1, "disk"), critical(2, "load"), critical(3, "swap")])
    assert.deepStrictEqual(Object.fromEntries(trial.end(at(200)).messages), { debug: 1, webhook: 2 })
  })

  it("plays results of watches, whose agent no key may register", () => {
    const at = (seconds: number) => Instant.fromMicros(BigInt(seconds) * 1_000_000n)
    const { staleAfter, watchAgent: agent_id } = defaultRules
    const trial = new Trial(
      { policy: {}, notifiers: ["debug"] },
      { staleAfter, agents: [{ agent_id, hostname: "watches" }], start: at(0), since: at(0) },
    )
    const event = eventOf(1, { check_id: "site", observed_at: at(10) })
    trial.take([{ entry: "results", agent_id, at: at(10), events: [event] }])
    assert.deepStrictEqual(Array.from(trial.end(at(200)).messages), [["debug", 1]])
  })

  it("counts from a moment on, and keeps nothing but the present", () => {
    const at = (seconds: number) => Instant.fromMicros(BigInt(seconds) * 1_000_000n)
    const start = at(0)
    const [agent_id = AGENTS[0]] = AGENTS
    assert(agent_id !== undefined)
    const trial = new Trial(
      { policy: {}, notifiers: ["debug"] },
      {
        staleAfter: defaultRules.staleAfter,
        agents: [{ agent_id, hostname: "db" }],
        start,
        since: at(100),
      },
    )
    trial.take([
      { entry: "died", agent_id, at: at(50) },
      { entry: "returned", agent_id, at: at(120) },
      { entry: "died", agent_id, at: at(130) },
    ])
    assert.deepStrictEqual(Array.from(trial.end(at(200)).messages), [["debug", 2]])
  })
})
