import { createHash } from "node:crypto"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import { fromMicros, type Instant } from "@tocsin/contract/formats/Instant"
import type { NotifierName, OutboxState, Severity } from "@tocsin/contract/formats/Status"
import type { DeliveryTrigger } from "./deliver.ts"

/**
 * The events that checks, incidents and the outbox depend on. `notifiers` are those enabled at that
 * moment.
 */
export type LogEntry =
  | {
      readonly entry: "batch"
      readonly agent_id: string
      readonly events: ReadonlyArray<CheckResultEvent>
      readonly now: Instant
      readonly notifiers: ReadonlyArray<NotifierName>
    }
  /** An agent has been silent for as long as the dead threshold. */
  | {
      readonly entry: "dead"
      readonly agent_id: string
      readonly now: Instant
      readonly notifiers: ReadonlyArray<NotifierName>
    }
  /** An agent has contact, by a batch or otherwise; it comes before the batch. */
  | { readonly entry: "contact"; readonly agent_id: string; readonly now: Instant }
  /** A check's clock is reset. */
  | { readonly entry: "reset"; readonly agent_id: string; readonly check_id: string }
  | { readonly entry: "agent_gone"; readonly agent_id: string; readonly now: Instant }
  /**
   * `item` is its name in {@link FoldedItem}; `isOver`: its attempts and its age admit no other
   * attempt.
   */
  | {
      readonly entry: "delivery"
      readonly item: string
      readonly trigger: DeliveryTrigger
      readonly isOver: boolean
    }

type Batch = LogEntry & { readonly entry: "batch" }

/** A result that counted. */
export interface FoldedResult extends CheckResultEvent {
  readonly agent_id: string
  readonly received_at: Instant
  /** Whether it is a row of the history. */
  readonly stored: boolean
  /** When it was observed or, after a reset of its clock, arrived. Older results are late. */
  counted_at: Instant
}

/** The time that a check spent, or spends, in an incident. */
interface Stay {
  readonly agent_id: string
  readonly check_id: string
  severity: Severity
  /** When its status changed last, as a number that grows over all checks. */
  changed: number
  left: boolean
}

/** An incident with all its memberships, and what it shows. */
export interface FoldedIncident {
  /** `kind/key#n`: the n-th of its key. */
  readonly name: string
  readonly kind: "named" | "automatic"
  readonly key: string
  readonly opened_at: Instant
  resolved_at: Instant | undefined
  readonly stays: Array<Stay>
  severity: Severity
  summary: string | undefined
  agent_id: string | undefined
  check_id: string | undefined
}

/** An outbox item. */
export interface FoldedItem {
  /** `incident/notifier/type/severity#n`: the n-th of these. */
  readonly name: string
  readonly incident: FoldedIncident
  readonly notifier: NotifierName
  readonly type: "firing" | "resolved"
  readonly severity: Severity
  state: OutboxState
  attempts: number
  /** Whether its receiver may know of it: it was attempted, and not refused for good. */
  mayBeKnown: boolean
}

/** The member of an incident that says its agent is dead. */
const HEARTBEAT = "@heartbeat"

const RANKS = ["warning", "unknown", "critical"]
const rank = (severity: Severity): number => RANKS.indexOf(severity)

const STATE_AFTER: Record<DeliveryTrigger, OutboxState> = {
  claimed: "sending",
  delivered: "sent",
  deferred: "retry",
  refused: "failed",
  replayed: "pending",
  notifier_gone: "discarded",
}

/** The first line of a text that is not blank, at most 512 characters of it. */
const firstLineOf = (text: string | undefined): string | undefined => {
  const line = (text ?? "").split(/\r|\n/).find((one) => one.trim() !== "")
  return line === undefined ? undefined : [...line.trim()].slice(0, 512).join("")
}

const keyOf = (agentId: string, event: CheckResultEvent): Pick<FoldedIncident, "kind" | "key"> => {
  if (event.incident_key !== undefined) return { kind: "named", key: event.incident_key }
  const key = `${agentId}/${event.check_id}`
  const digest = createHash("sha256").update(key).digest("hex")
  return { kind: "automatic", key: key.length > 256 ? `sha256:${digest}` : key }
}

/**
 * A second, naive implementation of the rules of events, incidents and notifications
 * (docs/rules.md#events, docs/rules.md#incidents): it folds over all events from the start, and
 * answers each question by a scan. Shares no code with the service.
 */
export class FoldedEvents {
  /** Results of the checks of present agents, in the order in which they were applied. */
  results: ReadonlyArray<FoldedResult> = []
  readonly incidents: Array<FoldedIncident> = []
  readonly outbox: Array<FoldedItem> = []
  /** How many events of each batch were accepted. */
  readonly accepted: Array<number> = []
  #changes = 0

  constructor(log: ReadonlyArray<LogEntry>) {
    for (const entry of log) this.#take(entry)
  }

  /** All results of one check. */
  resultsOf(agentId: string, checkId: string): ReadonlyArray<FoldedResult> {
    return this.results.filter((result) => result.agent_id === agentId && result.check_id === checkId)
  }

  /** The last results of a check: those that were observed at one moment. */
  latestOf(agentId: string, checkId: string): ReadonlyArray<FoldedResult> {
    const results = this.resultsOf(agentId, checkId)
    const before = results.findLastIndex((result) => result.counted_at !== results.at(-1)?.counted_at)
    return results.slice(before + 1)
  }

  /** The incident key that the last change of a check's status named. */
  keyOf(agentId: string, checkId: string): string | undefined {
    const results = this.resultsOf(agentId, checkId)
    return results.findLast((result, at) => result.status !== results[at - 1]?.status)?.incident_key
  }

  /** The incident that a check is a member of. */
  incidentOf(agentId: string, checkId: string): FoldedIncident | undefined {
    return this.incidents.find((incident) => this.#stayIn(incident, agentId, checkId) !== undefined)
  }

  /** The stays in an incident that have not ended. */
  presentIn(incident: FoldedIncident): ReadonlyArray<Stay> {
    return incident.stays.filter((stay) => !stay.left)
  }

  #stayIn(incident: FoldedIncident, agentId: string, checkId: string): Stay | undefined {
    return this.presentIn(incident).find((stay) => stay.agent_id === agentId && stay.check_id === checkId)
  }

  #take(entry: LogEntry): void {
    switch (entry.entry) {
      case "batch":
        this.accepted.push(this.#applyBatch(entry))
        break
      case "dead":
        this.#agentDead(entry)
        break
      case "contact":
        this.#contact(entry.agent_id, entry.now)
        break
      case "reset":
        this.#resetClock(entry.agent_id, entry.check_id)
        break
      case "agent_gone":
        this.#removeAgent(entry.agent_id, entry.now)
        break
      case "delivery":
        this.#deliver(entry)
    }
    for (const incident of this.incidents) this.#show(incident)
  }

  #applyBatch(batch: Batch): number {
    const isRepeated = (event: CheckResultEvent, at: number): boolean =>
      batch.events.slice(0, at).some((earlier) => earlier.event_id === event.event_id)
    return batch.events.filter((event, at) => !isRepeated(event, at) && this.#applyEvent(batch, event)).length
  }

  /** Tells whether the event was a change. */
  #applyEvent(batch: Batch, event: CheckResultEvent): boolean {
    const { agent_id, now } = batch
    const latest = this.latestOf(agent_id, event.check_id)
    const last = latest.at(-1)
    if (last !== undefined && event.observed_at < last.counted_at) return false
    const hasSameId = (result: FoldedResult): boolean => result.event_id === event.event_id
    if (latest.some(hasSameId)) return false
    const isIdentical = last?.status === event.status && last.exit_code === event.exit_code
    const history = this.results.filter((result) => result.stored && result.agent_id === agent_id)
    // Only changes are looked up in the history.
    if (!isIdentical && history.some(hasSameId)) return false
    this.results = [
      ...this.results,
      { ...event, agent_id, received_at: now, stored: !isIdentical, counted_at: event.observed_at },
    ]
    if (last?.status !== event.status) this.#changeStatus(batch, event)
    for (const incident of this.incidents) this.#show(incident)
    return !isIdentical
  }

  #resetClock(agentId: string, checkId: string): void {
    const latest = this.latestOf(agentId, checkId)
    const last = latest.at(-1)
    if (last === undefined || last.counted_at <= last.received_at) return
    const isOlder = (result: FoldedResult): boolean =>
      result.agent_id === agentId && result.check_id === checkId && !latest.includes(result)
    // An older result does not become the newest when the newest one moves.
    for (const result of this.results.filter(isOlder)) {
      if (result.counted_at >= last.received_at) result.counted_at = fromMicros(last.received_at - 1n)
    }
    for (const result of latest) result.counted_at = last.received_at
  }

  #changeStatus({ agent_id, now, notifiers }: Batch, event: CheckResultEvent): void {
    const { check_id, status, notifications_enabled } = event
    const told = notifications_enabled ? notifiers : []
    const { kind, key } = keyOf(agent_id, event)
    const current = this.incidentOf(agent_id, check_id)
    const stay = current && this.#stayIn(current, agent_id, check_id)
    this.#changes += 1
    if (stay !== undefined && current?.kind === kind && current.key === key && status !== "ok") {
      const hasWorsened = rank(status) > rank(stay.severity)
      stay.severity = status
      stay.changed = this.#changes
      if (hasWorsened) this.#fire(current, told)
      return
    }
    if (stay !== undefined && current !== undefined) this.#leave(current, stay, now, notifications_enabled)
    if (status === "ok") return
    this.#join(
      kind,
      key,
      { agent_id, check_id, severity: status, changed: this.#changes, left: false },
      now,
      told,
    )
  }

  #agentDead({ agent_id, now, notifiers }: LogEntry & { readonly entry: "dead" }): void {
    if (this.incidentOf(agent_id, HEARTBEAT) !== undefined) return
    this.#changes += 1
    const stay: Stay = {
      agent_id,
      check_id: HEARTBEAT,
      severity: "critical",
      changed: this.#changes,
      left: false,
    }
    this.#join("automatic", `${agent_id}/${HEARTBEAT}`, stay, now, notifiers)
  }

  #contact(agentId: string, now: Instant): void {
    const incident = this.incidentOf(agentId, HEARTBEAT)
    const stay = incident && this.#stayIn(incident, agentId, HEARTBEAT)
    if (incident !== undefined && stay !== undefined) this.#leave(incident, stay, now, true)
  }

  #join(
    kind: FoldedIncident["kind"],
    key: string,
    stay: Stay,
    now: Instant,
    told: ReadonlyArray<NotifierName>,
  ): void {
    const open = this.incidents.find(
      (one) => one.kind === kind && one.key === key && one.resolved_at === undefined,
    )
    const incident = open ?? this.#open(kind, key, now)
    incident.stays.push(stay)
    this.#fire(incident, told)
  }

  #open(kind: FoldedIncident["kind"], key: string, now: Instant): FoldedIncident {
    const earlier = this.incidents.filter((one) => one.kind === kind && one.key === key).length
    const incident: FoldedIncident = {
      name: `${kind}/${key}#${earlier}`,
      kind,
      key,
      opened_at: now,
      resolved_at: undefined,
      stays: [],
      severity: "warning",
      summary: undefined,
      agent_id: undefined,
      check_id: undefined,
    }
    this.incidents.push(incident)
    return incident
  }

  #leave(incident: FoldedIncident, stay: Stay, now: Instant, isLoud: boolean): void {
    stay.left = true
    if (this.presentIn(incident).length > 0) return
    incident.resolved_at = now
    const firings = this.#firings(incident)
    for (const item of firings) if (item.state === "pending" && !item.mayBeKnown) item.state = "discarded"
    const known = isLoud ? firings.filter((item) => item.mayBeKnown) : []
    for (const notifier of new Set(known.map((item) => item.notifier)))
      this.#enqueue(incident, notifier, "resolved")
  }

  /** An incident's fields follow from its members; once none is left it stays as it is. */
  #show(incident: FoldedIncident): void {
    const present = this.presentIn(incident)
    const [speaker] = present.toSorted((a, b) => rank(b.severity) - rank(a.severity) || b.changed - a.changed)
    if (speaker === undefined) return
    const output = this.resultsOf(speaker.agent_id, speaker.check_id).at(-1)?.output
    incident.severity = speaker.severity
    incident.summary = firstLineOf(output)
    incident.agent_id = present.length === 1 ? speaker.agent_id : undefined
    incident.check_id = present.length === 1 ? speaker.check_id : undefined
  }

  /** Its checks leave one by one; of those in one incident, the one that it shows leaves last. */
  #removeAgent(agentId: string, now: Instant): void {
    for (const incident of this.incidents.filter((one) => one.resolved_at === undefined)) {
      const leaving = this.presentIn(incident).filter((stay) => stay.agent_id === agentId)
      for (const stay of leaving.toSorted(
        (a, b) => rank(a.severity) - rank(b.severity) || a.changed - b.changed,
      )) {
        stay.left = true
        if (this.presentIn(incident).length > 0) this.#show(incident)
        else this.#abandon(incident, now)
      }
    }
    this.results = this.results.filter((result) => result.agent_id !== agentId)
  }

  #abandon(incident: FoldedIncident, now: Instant): void {
    incident.resolved_at = now
    const firings = this.#firings(incident)
    const sent = firings.filter((item) => item.state === "sent" || item.state === "sending")
    for (const item of firings)
      if (item.state === "pending" || item.state === "retry") item.state = "discarded"
    for (const notifier of new Set(sent.map((item) => item.notifier)))
      this.#enqueue(incident, notifier, "resolved")
  }

  /** Firings of an incident, without discarded ones, which notified nobody. */
  #firings(incident: FoldedIncident): ReadonlyArray<FoldedItem> {
    return this.outbox.filter(
      (item) => item.incident === incident && item.type === "firing" && item.state !== "discarded",
    )
  }

  #fire(incident: FoldedIncident, notifiers: ReadonlyArray<NotifierName>): void {
    this.#show(incident)
    for (const notifier of notifiers) {
      const isNotified = this.#firings(incident).some(
        (item) => item.notifier === notifier && rank(item.severity) >= rank(incident.severity),
      )
      if (!isNotified) this.#enqueue(incident, notifier, "firing")
    }
  }

  #enqueue(incident: FoldedIncident, notifier: NotifierName, type: FoldedItem["type"]): void {
    const { severity } = incident
    const name = `${incident.name}/${notifier}/${type}/${severity}`
    const earlier = this.outbox.filter((item) => item.name.startsWith(`${name}#`)).length
    this.outbox.push({
      name: `${name}#${earlier}`,
      incident,
      notifier,
      type,
      severity,
      state: "pending",
      attempts: 0,
      mayBeKnown: false,
    })
  }

  #deliver({ item: name, trigger, isOver }: LogEntry & { readonly entry: "delivery" }): void {
    const item = this.outbox.find((one) => one.name === name)
    if (item === undefined) throw new Error(`the outbox should not hold ${name}`)
    item.state = STATE_AFTER[trigger]
    if (trigger === "claimed") item.attempts += 1
    if (trigger === "replayed") item.attempts = 0
    item.mayBeKnown = trigger !== "notifier_gone" && (trigger !== "refused" || isOver)
    if (trigger === "refused" && item.type === "firing") this.#dropUnheard(item)
  }

  /** The resolved behind a refused firing goes with it, unless another firing may be known. */
  #dropUnheard({ incident, notifier }: FoldedItem): void {
    const isOfNotifier = (item: FoldedItem) => item.incident === incident && item.notifier === notifier
    if (this.#firings(incident).some((item) => isOfNotifier(item) && item.mayBeKnown)) return
    for (const item of this.outbox)
      if (isOfNotifier(item) && item.type === "resolved" && item.state === "pending") item.state = "discarded"
  }
}
