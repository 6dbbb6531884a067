import { AgentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { OverrideId } from "@tocsin/contract/onCall/Rotas"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import { EventBatchRequest, HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import { Trial, type PastEntry } from "@tocsin/simulation/Trial"
import { simulate } from "@tocsin/simulation/simulate"
import { eventOf, heartbeatOf } from "@tocsin/testing/samples"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import { Duration, Result, Schema } from "effect"
import type { RotaOverrideRecord } from "@tocsin/core/heart/model/RotaOverrideRecord"
import type { Course } from "./playModel.ts"
import { AGENTS, DEAD_AFTER, rankOf, type Reported, STALE_AFTER, type Step, type Story } from "./Story.ts"
import type { Arrived } from "./differences.ts"
import { documentOf } from "./documentOf.ts"

const MINUTE = 60
/** Often enough that no agent is stale. */
const BETWEEN_HEARTBEATS = 100
const UNPREDICTED = ["policy", "answers", "tests", "stops", "clock_back", "expect"]

/**
 * The same story as far as predictions know it: its policy stays, every receiver accepts, no check must report, the
 * service never stops, and its clock is right.
 */
export const predictable = (story: Story): Story => {
  const isUnknown = ({ step }: Step) => UNPREDICTED.includes(step)
  let waited = 0
  let before: Step | undefined
  const steps = story.steps.flatMap((step): ReadonlyArray<Step> => {
    const wait = waited + step.wait
    waited = isUnknown(step) ? wait : 0
    if (isUnknown(step)) return []
    const next = { ...step, wait: isWithinInstant(before, step) ? wait : Math.max(MINUTE, wait) }
    before = step
    return [next]
  })
  return { ...story, steps }
}

/**
 * A simulation sends what is due before the next line. So only what a silence holds from its event on may share an
 * instant with the end of that silence, and no check may leave an incident then.
 */
const isWithinInstant = (before: Step | undefined, step: Step): boolean =>
  (before?.step === "silence" && step.step === "report" && onlyWorsens(step.results)) ||
  (before?.step === "report" && step.step === "expire" && onlyWorsens(before.results))

const onlyWorsens = (results: ReadonlyArray<Reported>): boolean =>
  results.every(({ key, loud, status }, at) => {
    const before = results[at - 1]
    return loud && (before === undefined || (key === before.key && rankOf(status) >= rankOf(before.status)))
  })

const timesOf = ({ begins }: Story) => {
  const start = Instant.fromMillis(Date.parse(begins))
  return (second: number): Instant.Instant => Instant.plus(start, Duration.seconds(second))
}

const eventsOf = (results: ReadonlyArray<Reported>, observed_at: Instant.Instant, first: number) =>
  results.map(({ check, key, loud, status }, at) =>
    eventOf(first + at, {
      check_id: check,
      observed_at,
      status,
      notifications_enabled: loud,
      ...(key !== undefined && { incident_key: key }),
    }),
  )

const encodeHeartbeat = Schema.encodeSync(HeartbeatRequest)
const encodeBatch = Schema.encodeSync(EventBatchRequest)

/** The seconds at which each agent sends heartbeats: each minute, unless it is silent. */
const heartbeatsOf = ({ steps, until }: Course, agent: string): ReadonlyArray<number> => {
  const own = steps.filter(({ step }) => step === "falls_silent" || step === "returns")
  const turns = own.filter((step) => "agent" in step && step.agent === agent)
  const minutes = Array.from(
    { length: Math.ceil(until / BETWEEN_HEARTBEATS) },
    (_, n) => n * BETWEEN_HEARTBEATS,
  )
  const isAlive = (at: number) => turns.findLast((turn) => turn.at < at)?.step !== "falls_silent"
  return [...minutes.filter(isAlive), ...turns.map(({ at }) => at)]
}

/** The lines of a story for `simulate`. */
const linesOf = (story: Story, course: Course): ReadonlyArray<object> => {
  const at = timesOf(story)
  const beats = Object.entries(AGENTS).flatMap(([agent, labels]) =>
    heartbeatsOf(course, agent).map((second) => {
      const line = encodeHeartbeat(heartbeatOf(agent, { labels, observed_at: at(second) }))
      return { second, line: { ...line } as object }
    }),
  )
  let [silences, overrides, events] = [0, 0, 0]
  const lineOf = (step: Course["steps"][number]): object | undefined => {
    switch (step.step) {
      case "report": {
        const results = eventsOf(step.results, at(step.at), events)
        events += results.length
        return encodeBatch({ agent_id: AgentId.make(step.agent), events: results })
      }
      case "silence":
        return {
          silence: `silence ${silences++}`,
          add: { matchers: matchersOf(step.match), for: `${step.lasts}s`, comment: "c" },
        }
      case "expire":
        return silences === 0 ? undefined : { silence: `silence ${step.which % silences}`, expire: {} }
      case "override": {
        if (!isKept(story, step)) return undefined
        const { receivers, rota } = step
        const [from, to] = [step.after, step.after + step.lasts].map((after) =>
          Instant.format(at(step.at + after)),
        )
        return { override: `override ${overrides++}`, create: { rota, receivers, from, to } }
      }
      case "end_override":
        return overrides === 0 ? undefined : { override: `override ${step.which % overrides}`, end: {} }
      case "acknowledge":
        return step.key === undefined
          ? undefined
          : { incident_key: step.key, acknowledge: { for: `${step.lasts}s` } }
      case "withdraw":
        return step.key === undefined ? undefined : { incident_key: step.key, withdraw: {} }
      default:
        return undefined
    }
  }
  const steps = course.steps.flatMap((step) => {
    const line = lineOf(step)
    return line === undefined ? [] : [{ second: step.at, line }]
  })
  return [...beats, ...steps]
    .toSorted((a, b) => a.second - b.second)
    .map(({ line, second }) => ({ received_at: Instant.format(at(second)), ...line }))
}

const matchersOf = (match: ReadonlyArray<string>) =>
  match.map((text) => Result.getOrThrow(parseMatcher(text)))

/** The messages of a simulation of a story. */
export const simulateStory = (story: Story, course: Course): ReadonlyArray<Arrived> => {
  const at = timesOf(story)
  const { incidents, notifications } = simulate(linesOf(story, course), {
    notifiers: story.receivers,
    policy: documentOf(story.policy, story.receivers),
    until: at(course.until),
  })
  const openings = new Map<string, number>()
  const opening = new Map<string, number>()
  for (const { id, incident_key } of incidents) {
    openings.set(incident_key, (openings.get(incident_key) ?? 0) + 1)
    opening.set(id, openings.get(incident_key) ?? 0)
  }
  return notifications.map(
    ({ at: sent, cause, event_type, incident_id, incident_key, receiver = "", severity }) => ({
      receiver,
      key: incident_key,
      opening: opening.get(incident_id) ?? 0,
      event: event_type,
      cause: cause ?? undefined,
      severity,
      at: Instant.secondsBetween(at(0), sent),
    }),
  )
}

/** The deaths and returns of an agent, as a service's incidents show them. */
const turnsOf = (
  { steps, until }: Course,
  agent: string,
): ReadonlyArray<{ entry: "died" | "returned"; at: number }> => {
  const turns: Array<{ entry: "died" | "returned"; at: number }> = []
  let [seen, isSilent] = [0, false]
  const contacts = steps.filter((step) => "agent" in step && step.agent === agent && step.step !== "expect")
  for (const { at, step } of [...contacts, { at: until, step: "end" }]) {
    if (isSilent && at - seen >= DEAD_AFTER) {
      turns.push({ entry: "died", at: seen + DEAD_AFTER })
      if (step !== "end") turns.push({ entry: "returned", at })
    }
    seen = at
    if (step === "falls_silent" || step === "returns") isSilent = step === "falls_silent"
  }
  return turns
}

/** Whether the policy has the rota and the receivers of an override. */
const isKept = (
  { policy, receivers }: Story,
  step: Extract<Course["steps"][number], { step: "override" }>,
): boolean =>
  policy.rotas?.[step.rota] !== undefined && step.receivers.every((name) => receivers.includes(name))

/** The overrides of a story with their last ends, those that never began excepted. */
const overridesOf = (story: Story, { steps }: Course): ReadonlyArray<RotaOverrideRecord> => {
  const at = timesOf(story)
  const found: Array<
    Extract<Course["steps"][number], { step: "override" }> & { from: number; until: number }
  > = []
  for (const step of steps) {
    const ended = step.step === "end_override" ? found[step.which % found.length] : undefined
    if (ended !== undefined) ended.until = Math.min(ended.until, step.at)
    if (step.step !== "override" || !isKept(story, step)) continue
    const from = step.at + step.after
    found.push({ ...step, from, until: from + step.lasts })
  }
  return found
    .filter(({ from, until }) => from < until)
    .map(({ at: made, from, receivers: names, rota, until }, n) => ({
      id: OverrideId.make(uuidV7(BigInt(n), "override")),
      rota,
      receivers: names,
      starts_at: at(from),
      ends_at: at(until),
      note: undefined,
      created_by: "c",
      created_at: at(made),
    }))
}

/** A story as the tables of a service show it. */
const pastOf = (story: Story, course: Course): ReadonlyArray<PastEntry> => {
  const at = timesOf(story)
  const silences: Array<{ readonly match: ReadonlyArray<string>; readonly from: number; until: number }> = []
  for (const step of course.steps) {
    if (step.step === "silence")
      silences.push({ match: step.match, from: step.at, until: step.at + step.lasts })
    const expired = step.step === "expire" ? silences[step.which % silences.length] : undefined
    if (expired !== undefined) expired.until = Math.min(expired.until, step.at)
  }
  let events = 0
  const overridden = overridesOf(story, course).map((override): PastEntry => ({
    entry: "overridden",
    override,
    at: override.created_at,
  }))
  const steps = course.steps.flatMap((step): ReadonlyArray<PastEntry> => {
    if (step.step === "report") {
      const results = eventsOf(step.results, at(step.at), events)
      events += results.length
      return [{ entry: "results", agent_id: AgentId.make(step.agent), events: results, at: at(step.at) }]
    }
    if (!("key" in step) || step.key === undefined) return []
    const incident = {
      incident_key: IncidentKey.make(step.key),
      kind: step.key === "k" ? "named" : "automatic",
    } as const
    if (step.step === "acknowledge")
      return [{ entry: "acknowledged", ...incident, until: at(step.at + step.lasts), at: at(step.at) }]
    return step.step === "withdraw" ? [{ entry: "withdrawn", ...incident, at: at(step.at) }] : []
  })
  const turns = Object.keys(AGENTS).flatMap((agent) =>
    turnsOf(course, agent).map((turn): PastEntry => ({
      entry: turn.entry,
      agent_id: AgentId.make(agent),
      at: at(turn.at),
    })),
  )
  const silenced = silences
    .filter(({ from, until }) => from < until)
    .map(({ from, match, until }, n): PastEntry => {
      const common = { comment: "c", created_by: "c", created_at: at(from) }
      const id = SilenceId.make(uuidV7(BigInt(n), "silence"))
      const silence = { id, matchers: matchersOf(match), starts_at: at(from), ends_at: at(until), ...common }
      return { entry: "silenced", silence, at: at(from) }
    })
  const order = (a: PastEntry, b: PastEntry) => (a.at < b.at ? -1 : Number(a.at > b.at))
  return [...silenced, ...overridden, ...steps, ...turns].toSorted(order)
}

/** How many messages `policy try` counts for each receiver of a story. */
export const tryStory = (story: Story, course: Course): ReadonlyMap<string, number> => {
  const at = timesOf(story)
  const agents = Object.entries(AGENTS).map(([agent, labels]) => ({
    agent_id: AgentId.make(agent),
    hostname: `${agent}.example.org`,
    labels,
  }))
  const policy = documentOf(story.policy, story.receivers)
  const options = { agents, start: at(0), since: at(0), staleAfter: Duration.seconds(STALE_AFTER) }
  const trial = new Trial({ policy, notifiers: story.receivers }, options)
  trial.take(pastOf(story, course))
  return trial.end(at(course.until)).messages
}
