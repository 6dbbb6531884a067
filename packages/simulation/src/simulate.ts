import type { SilenceId } from "@tocsin/contract/silences/Silences"
import { format, type Instant, max, secondsBetween } from "@tocsin/contract/formats/Instant"
import { acknowledgedUntil } from "@tocsin/core/heart/acknowledgements/acknowledge"
import { defaultRules, type RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import { createSilence, editSilence, expireSilence } from "@tocsin/core/features/silences/silenceDecisions"
import { toTimelineEntry } from "@tocsin/core/heart/model/IncidentRecord"
import { toIncident } from "@tocsin/core/heart/usecases/shownIncidents"
import { Result } from "effect"
import { judge, leastEnd, requireJudgeable } from "./Expectation.ts"
import { SimulatedService } from "./SimulatedService.ts"
import {
  type EndedIncident,
  type HeldBy,
  type HeldFiring,
  reasonOf,
  type SentNotification,
} from "./SimulatedCommits.ts"
import type {
  JudgedExpectation,
  RefusedLine,
  SimulatedIncident,
  SimulatedNotification,
  SimulationReport,
  SimulationSettings,
  UnsentFiring,
} from "./SimulationReport.ts"
import {
  type IncidentLogEntry,
  type OverrideAct,
  readLines,
  type SilenceAct,
  type SimulationEntry,
} from "./readLines.ts"
import { simulatedSignature } from "./registrationOf.ts"
import type { OverrideId } from "@tocsin/contract/onCall/Rotas"
import type { RotaOverrideRecord } from "@tocsin/core/heart/model/RotaOverrideRecord"
import { createOverride, endOverride } from "@tocsin/core/features/onCall/overrideDecisions"
import { lackedBy } from "@tocsin/core/features/onCall/rotaWarnings"

/**
 * Returns a function that creates and ends the overrides of a simulation, by the names that the input gives them. An
 * impossible act fails with its reason.
 */
const simulatedOverrides = (service: SimulatedService) => {
  const created = new Map<string, RotaOverrideRecord>()
  return (act: OverrideAct): Result.Result<void, string> => {
    const { override: name, received_at: at } = act
    const before = created.get(name)
    if ("end" in act) {
      if (before === undefined)
        return Result.fail(`no line before creates an override that is named ${name}: create it first`)
      const by = simulatedSignature(act.end.by)
      return service.act(endOverride(before.rota, before.id, by), at) > 0
        ? Result.void
        : Result.fail(`the override ${name} has ended before ${format(at)}: create another one`)
    }
    if (before !== undefined)
      return Result.fail(`a line before creates an override that is named ${name}: choose another name`)
    const { by, ...asked } = act.create
    const lacking = lackedBy(service.policy, asked)
    if (lacking.length > 0) return Result.fail(`the policy lacks ${lacking.join(", ")}: add that`)
    const override = { note: undefined, ...asked, id: service.newId<OverrideId>(at) }
    return Result.mapBoth(service.act(createOverride(override, simulatedSignature(by)), at), {
      onSuccess: (made) => void created.set(name, made),
      onFailure: ({ message }) => message,
    })
  }
}

/** The silences of a simulation, by the names that the input gives them. */
const simulatedSilences = (service: SimulatedService, rules: RuleOptions) => {
  const ids = new Map<string, SilenceId>()
  /** By what withholds a firing. */
  const names = new Map<HeldBy[number], HeldBy[number]>()
  const add = ({
    add: { by, comment, matchers, ...times },
    received_at: at,
    silence: name,
  }: Extract<SilenceAct, { readonly add: unknown }>): Result.Result<void, string> => {
    const id = service.newId<SilenceId>(at)
    const silence = { id, matchers, comment, ...times }
    const added = service.act(createSilence(silence, rules, simulatedSignature(by)), at)
    if (Result.isFailure(added)) return Result.fail(added.failure.message)
    ids.set(name, id)
    names.set(`silence:${id}`, `silence:${name}`)
    return Result.void
  }
  return {
    /** Does what a line states. Fails with the reason if it is impossible. */
    apply: (act: SilenceAct): Result.Result<void, string> => {
      const { received_at: at, silence: name } = act
      const id = ids.get(name)
      if ("add" in act) {
        return id === undefined
          ? add(act)
          : Result.fail(`a line before adds a silence that is named ${name}: choose another name`)
      }
      if (id === undefined)
        return Result.fail(`no line before adds a silence that is named ${name}: add it first`)
      if ("expire" in act) {
        const count = service.act(expireSilence(id, simulatedSignature(act.expire.by)), at)
        return count > 0 ? Result.void : hasEnded(act)
      }
      const { by, ...changes } = act.extend
      const edited = service.act(editSilence(id, changes, rules, simulatedSignature(by)), at)
      if (edited.outcome === "edited") return Result.void
      return edited.outcome === "invalid" ? Result.fail(edited.message) : hasEnded(act)
    },
    /** The holds of a firing, with the names of silences instead of their IDs. */
    named: (heldBy: HeldBy): HeldBy => heldBy.map((by) => names.get(by) ?? by),
  }
}

const hasEnded = ({ received_at, silence }: SilenceAct) =>
  Result.fail(`the silence ${silence} has ended before ${format(received_at)}: add another one`)

/** Does what a line states about an incident. Fails with the reason if it is impossible. */
const applyIncidentAct = (
  service: SimulatedService,
  act: IncidentLogEntry,
  rules: RuleOptions,
): Result.Result<void, string> => {
  const { incident_key: key, received_at: at } = act
  const when = format(at)
  if ("withdraw" in act) {
    if (service.withdraw(act, simulatedSignature(act.withdraw.by), at) > 0) return Result.void
    return Result.fail(
      `no open incident of ${key} is acknowledged at ${when}: withdraw what a line before acknowledges`,
    )
  }
  const { by: name, note, severity, ...end } = act.acknowledge
  const until = acknowledgedUntil(end, rules, at)
  if (Result.isFailure(until)) return Result.fail(until.failure)
  const results = service.acknowledge(
    act,
    { by: simulatedSignature(name), note, severity, until: until.success },
    at,
  )
  if (results.length === 0)
    return Result.fail(`no incident of ${key} is open at ${when}: acknowledge it while it is open`)
  for (const result of results) {
    if (result.outcome === "another_severity")
      return Result.fail(`the severity of ${key} is ${result.severity} at ${when}: name this one, or none`)
  }
  return Result.void
}

/**
 * Finds the incidents and notifications that recorded input would have caused: heartbeats and
 * batches, or the history of a service, with acts of people (`readLine` lists the forms). Pure and
 * synchronous: it runs the service's own decisions.
 *
 * Every agent counts as accepted, and falls silent only after a known heartbeat: the history
 * contains changes, not every contact. Notifications count as delivered immediately; alerts are not
 * resent.
 */
export const simulate = (lines: Iterable<unknown>, settings: SimulationSettings): SimulationReport => {
  const { entries, expectations, refused } = readLines(lines)
  const [first] = entries
  const last = entries.at(-1)
  if (first === undefined || last === undefined) return { ...NOTHING, refused }
  const { until = expectations.map(leastEnd).reduce(max, last.received_at), ...given } = settings
  const rules = { ...defaultRules, ...given }
  const incidents: Array<SimulatedIncident> = []
  const sentOnes: Array<SentNotification> = []
  const unsent: Array<UnsentFiring> = []
  const service = new SimulatedService(rules, {
    start: first.received_at,
    listener: {
      sent: (notification) => void sentOnes.push(named(notification)),
      discarded: (firing) => void unsent.push(unsentFiring(named(firing), firing.item.updated_at)),
      ended: (incident) => void incidents.push(shown(incident)),
    },
  })
  const silences = simulatedSilences(service, rules)
  const override = simulatedOverrides(service)
  const apply = (act: Extract<SimulationEntry, { readonly entry: "act" }>) => {
    if ("silence" in act) return silences.apply(act)
    return "override" in act ? override(act) : applyIncidentAct(service, act, rules)
  }
  const named = <Fact extends { readonly heldBy: HeldBy }>(fact: Fact): Fact => ({
    ...fact,
    heldBy: silences.named(fact.heldBy),
  })
  const taken = entries.filter((entry) => entry.received_at <= until)
  const impossible: Array<RefusedLine> = []
  for (const entry of taken) {
    service.passUntil(entry.received_at)
    if (entry.entry === "heartbeat") service.heartbeat(entry.request, entry.received_at)
    else if (entry.entry === "results") service.results(entry)
    else {
      const applied = apply(entry)
      if (Result.isFailure(applied)) impossible.push({ line: entry.line, reason: applied.failure })
    }
  }
  service.passUntil(until)
  for (const firing of service.end()) unsent.push(unsentFiring(named(firing), until))
  const isDetailed =
    settings.policy !== undefined || expectations.length > 0 || entries.some(({ entry }) => entry === "act")
  const notifications = sentOnes.map((one) => ({ ...sent(one), ...(isDetailed && holdOf(one)) }))
  const judged: Array<JudgedExpectation> = []
  for (const expectation of expectations) {
    const judgeable = requireJudgeable(expectation, {
      receivers: new Set(service.policy.receivers.keys()),
      until,
    })
    if (Result.isSuccess(judgeable)) judged.push(judge(expectation, notifications, until))
    else impossible.push({ line: expectation.line, reason: judgeable.failure })
  }
  return {
    from: first.received_at,
    until,
    agents: service.agents,
    heartbeats: taken.filter(({ entry }) => entry === "heartbeat").length,
    results: taken.reduce((sum, entry) => sum + countResults(entry), 0),
    changes: service.changes,
    incidents: incidents.toSorted(byId),
    notifications,
    ...(isDetailed && { unsent }),
    ...(judged.length > 0 && { expectations: judged }),
    refused: [...refused, ...impossible].toSorted((a, b) => a.line - b.line),
  }
}

const NOTHING: Omit<SimulationReport, "refused"> = {
  from: null,
  until: null,
  agents: 0,
  heartbeats: 0,
  results: 0,
  changes: 0,
  incidents: [],
  notifications: [],
}

const countResults = (entry: SimulationEntry): number => (entry.entry === "results" ? entry.events.length : 0)

// IDs begin with the time and a counter.
const byId = (a: SimulatedIncident, b: SimulatedIncident): number => (a.id < b.id ? -1 : 1)

const shown = ({ incident, changes }: EndedIncident): SimulatedIncident => ({
  ...toIncident(incident),
  timeline: changes.map(toTimelineEntry),
})

const sent = ({ at, notification }: SentNotification): SimulatedNotification => ({
  at,
  notifier: notification.notifier,
  event_type: notification.event_type,
  cause: notification.cause ?? null,
  severity: notification.severity,
  summary: notification.summary ?? null,
  incident_id: notification.incident.id,
  incident_key: notification.incident.incident_key,
  agent_id: notification.incident.agent_id ?? null,
  check_id: notification.incident.check_id ?? null,
  members: notification.incident.members,
})

const holdOf = ({ at, heldBy, notification }: SentNotification) => ({
  receiver: notification.receiver,
  // Every attempt succeeds, so only a hold keeps a notification waiting.
  held_for_seconds: heldBy.length === 0 ? 0 : secondsBetween(notification.created_at, at),
  held_by: heldBy,
})

const unsentFiring = (firing: HeldFiring, at: Instant): UnsentFiring => {
  const { heldBy, incident, item } = firing
  return {
    at,
    enqueued_at: item.created_at,
    notifier: item.notifier,
    receiver: item.receiver,
    cause: item.cause ?? null,
    severity: item.severity,
    incident_id: incident.id,
    incident_key: incident.incident_key,
    reason: reasonOf(firing),
    held_for_seconds: secondsBetween(item.created_at, at),
    held_by: heldBy,
  }
}
