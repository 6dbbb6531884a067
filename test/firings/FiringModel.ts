import * as Naming from "./NamingModel.ts"
import { AGENTS, DEAD_AFTER, rankOf, severityOf, STALE_AFTER } from "./Story.ts"
import type { Cause, Happening, Message, Reported, Story } from "./Story.ts"

/** How late background work may be; how long after an outage agents may report; when a retry is due. */
const [LATENESS, SETTLING, RETRY_AFTER] = [15, 120, 3_600]
/** How long a child waits for its recovery, and how long parents hold it from the first end on. */
const [RECOVERY, LONGEST] = [120, 600]
const MOST_MEMBERS = 500
/** All times of stories are multiples of it. */
const TICK = 10
/** How much later a time may be: the fraction that it lacks to a second. */
const FRACTION = 10_000
/** The steps that a pass follows. */
const PASSES = ["silence", "expire", "policy", "clock_back"]

/** A check that fails or is overdue, or an agent that is dead. */
interface Member {
  readonly agent: string
  readonly check?: string
  readonly rank: number
  readonly loud: boolean
}

interface Row {
  readonly event: "firing" | "resolved"
  readonly written: number
  /** The change of the incident that it belongs to. */
  readonly change: number
  state: "pending" | "retry" | "sent" | "failed"
  rank: number
  due: number
  cause?: Cause
  /** The cause of one that no rule of "who is owed" made. */
  byTime?: "ack_ran_out" | "reminder"
  isAgain?: boolean
  attempted?: number
  /** Whether it has a delay or is due by time, or was held: only then it waits after an outage, once. */
  mayWait: boolean
  waitsUntil?: number
  /** Whether parents hold it, when the last one ended, and when one did for the first time. */
  hasParents?: boolean
  parentEnded?: number | undefined
  firstEnded?: number | undefined
  freed?: number
}

/** The rows of a receiver for an incident: its only held firing, and those that nothing holds, as they became free. */
class Reach {
  held: Row | undefined
  rows: ReadonlyArray<Row> = []
  /** Since when it is owed a firing, and whether it is whatever it knows. */
  owedSince: number | undefined
  again = false

  get knows(): number {
    return Math.max(0, ...this.rows.map(({ rank }) => rank))
  }
}

class Incident {
  readonly members = new Map<string, Member>()
  readonly reaches = new Map<string, Reach>()
  /** When it was first announced at each severity. */
  readonly reached: Array<number> = []
  changes = 0
  rank = 0
  announced = 0
  ack: { readonly rank: number; readonly until: number } | undefined
  /** When one expired. */
  ackEnded = 0
  isOpen = true
  readonly key: string
  readonly openedAt: number

  constructor(key: string, openedAt: number) {
    this.key = key
    this.openedAt = openedAt
  }

  get loud(): ReadonlyArray<Member> {
    return Array.from(this.members.values()).filter(({ loud }) => loud)
  }

  /** The facts of its loud members, or of the agent that it is about, with its own severity. */
  get facts(): ReadonlyArray<Naming.Facts> {
    const isOfAgent = this.key.includes("/@")
    return this.loud.map(({ agent, check }) =>
      Naming.factsOf(this.key, this.rank, agent, isOfAgent ? "" : check),
    )
  }

  get isAcknowledged(): boolean {
    return this.ack !== undefined && this.announced <= this.ack.rank
  }

  /** When it was first announced at a severity or worse. */
  reachedAt(rank: number): number {
    return Math.min(...this.reached.flatMap((time, at) => (at >= rank ? time : [])))
  }

  reach(receiver: string): Reach {
    const reach = this.reaches.get(receiver) ?? new Reach()
    this.reaches.set(receiver, reach)
    return reach
  }
}

/**
 * Which messages a story leads to, by docs/rules.md alone. It shares nothing with the core: every ten seconds it
 * looks at everything. Times are those of the service's clock; `late` is how much later something may be.
 */
export class FiringModel {
  readonly messages: Array<Message> = []
  /** Until then, in seconds of the story, background work may not be done. */
  busyUntil = 0
  /** From then on, two pieces of background work could happen in either order. */
  racingFrom = Infinity
  #rules: Pick<Story, "policy" | "receivers">
  #now: number
  /** The time of the clock at the second 0 of the story. */
  #epoch: number
  #stoppedUntil = -1
  #busyBefore = -1
  /** How late an evaluation of this instant may be. */
  #late = 0
  #circumstances = ""
  readonly #outage = { from: 0, to: 0 }
  readonly #incidents: Array<Incident> = []
  readonly #silences: Array<{ match: ReadonlyArray<string>; from: number; until: number }> = []
  readonly #answers = new Map<string, "accepts" | "is_down" | "refuses">()
  readonly #checks = new Map<string, Member & { key: string; at: number; after?: number }>()
  readonly #agents = new Map<string, { seen: number; since: number; isSilent: boolean }>()

  /** How the routes name receivers, until something happens. */
  readonly #namings = new Map<Reach, ReturnType<FiringModel["name"]>>()

  constructor(story: Story) {
    this.#now = this.#epoch = Date.parse(story.begins) / 1_000
    this.#rules = story
    for (const agent of Object.keys(AGENTS))
      this.#agents.set(agent, { seen: this.#now, since: this.#now, isSilent: false })
  }

  get now(): number {
    return this.#now - this.#epoch
  }

  /** A service that starts and stops in one instant may not notice that it started. */
  get isStopped(): boolean {
    return this.now <= this.#stoppedUntil
  }

  /** Whether a pass or a claim is to come that would hold a row: a stop of the same instant may overtake it. */
  get isUndecided(): boolean {
    return this.#late > 0 || this.#pending().some((one) => this.#isHeld(...one))
  }

  get #open(): ReadonlyArray<Incident> {
    return this.#incidents.filter(({ isOpen }) => isOpen)
  }

  #pending() {
    const { receivers } = this.#rules
    const all = this.#incidents.flatMap((incident) => receivers.map((receiver) => ({ incident, receiver })))
    return all.flatMap(({ incident, receiver }) => {
      const rows = incident.reach(receiver).rows.filter(({ state }) => state === "pending")
      return rows.map((row) => [incident, receiver, row] as const)
    })
  }

  /** The incident that a number selects. */
  pick(which: number): Incident | undefined {
    return this.#open.toSorted((a, b) => (a.key < b.key ? -1 : 1))[which % this.#open.length]
  }

  /** Does what is due until then. */
  advance(until: number): void {
    while (this.now < until) {
      this.#now += TICK
      this.#busyBefore = this.busyUntil
      if (this.now >= this.#stoppedUntil) this.#passTime()
      this.flush()
      this.#busyBefore = -1
    }
  }

  take(step: Happening): void {
    const now = this.#now
    if (PASSES.includes(step.step)) this.#late = LATENESS
    this.#happens(this.#late)
    this.#circumstances = ""
    if (step.step === "report") {
      this.#contact(step.agent, this.#agents.get(step.agent)?.isSilent === true)
      for (const result of step.results) this.#report(step.agent, result)
    } else if (step.step === "falls_silent" || step.step === "returns")
      this.#contact(step.agent, step.step === "falls_silent")
    else if (step.step === "expect") {
      const [id, { after, agent, check }] = [`${step.agent}/${step.check}`, step]
      const known = this.#checks.get(id) ?? { agent, check, key: id, rank: 0, loud: true }
      if (!("after" in known)) this.#checks.set(id, { ...known, at: now, after })
    } else if (step.step === "acknowledge" || step.step === "withdraw") {
      const incident = this.pick(step.which)
      const ack = "lasts" in step ? { rank: incident?.rank ?? 0, until: now + step.lasts } : undefined
      if (incident !== undefined) incident.ack = ack
    } else if (step.step === "silence")
      this.#silences.push({ match: step.match, from: now, until: now + step.lasts })
    else if (step.step === "expire") {
      const silence = this.#silences[step.which % this.#silences.length]
      if (silence !== undefined) silence.until = Math.min(silence.until, now)
    } else if (step.step === "policy") this.#rules = step
    else if (step.step === "answers") this.#answers.set(step.receiver, step.how)
    else if (step.step === "stops") {
      this.#stoppedUntil = this.now + step.lasts
      if (step.lasts > STALE_AFTER) Object.assign(this.#outage, { from: now, to: now + step.lasts })
    } else if (step.step === "clock_back") {
      this.#now -= step.by
      this.#epoch -= step.by
      clamp([this.#incidents, this.#agents, this.#checks, this.#outage], this.#moment(LATENESS))
    }
  }

  /** Evaluates every incident, and claims what is pending, once all of an instant has happened. */
  flush(): void {
    if (this.now < this.#stoppedUntil) return
    this.#miss()
    for (const incident of this.#open)
      for (const receiver of this.#rules.receivers) this.#evaluate(incident, receiver)
    for (const one of this.#pending()) this.#claim(...one)
    this.#late = 0
  }

  /** Ends mutes and acknowledgements, and has retries pending that are due. */
  #passTime(): void {
    const [now, { policy, receivers }] = [this.#now, this.#rules]
    const quiet = receivers.map((receiver) => Naming.quietBelow(policy, receiver, now))
    const circumstances = JSON.stringify([this.#mutes, quiet, this.#stale])
    if (!["", circumstances].includes(this.#circumstances)) this.#happens()
    this.#circumstances = circumstances
    const reaches = this.#incidents.flatMap((incident) => Array.from(incident.reaches.values()))
    for (const row of reaches.flatMap(({ rows }) => rows)) {
      const due = (row.attempted ?? 0) + RETRY_AFTER
      if (row.state === "retry" && due <= now) Object.assign(row, { state: "pending", due })
    }
    for (const incident of this.#open.filter(({ ack }) => ack !== undefined && ack.until <= now)) {
      Object.assign(incident, { ack: undefined, ackEnded: now })
      this.#happens()
    }
  }

  // Members

  #contact(agent: string, isSilent: boolean): void {
    const since = this.#stale.includes(agent) ? this.#now : (this.#agents.get(agent)?.since ?? 0)
    this.#agents.set(agent, { seen: this.#now, since, isSilent })
    this.#move(agent, `${agent}/@heartbeat`, { agent, rank: 0, loud: true })
  }

  #report(agent: string, { check, key, loud, status }: Reported): void {
    const [id, rank] = [`${agent}/${check}`, rankOf(status)]
    const known = this.#checks.get(id) ?? { agent, check, key: id, rank: 0, loud }
    // Only a change of the status brings another key, and decides whether it is loud.
    const changed = rank === known.rank ? known : { ...known, rank, loud, key: key ?? id }
    this.#checks.set(id, { ...changed, at: this.#now })
    this.#move(`${id} overdue`, `${agent}/@overdue`, { agent, rank: 0, loud: true })
    this.#move(id, changed.key, { ...changed, loud: rank > 0 ? changed.loud : loud })
  }

  /** Agents that are dead, and checks that are overdue: the agent's next heartbeat comes within a minute. */
  #miss(): void {
    const [now, alive] = [this.#now, this.#outage.to]
    for (const [agent, { isSilent, seen, since }] of this.#agents) {
      if (isSilent && now >= Math.max(seen, alive) + DEAD_AFTER)
        this.#move(agent, `${agent}/@heartbeat`, { agent, rank: 3, loud: true }, LATENESS)
      for (const [id, { after = Infinity, at, ...check }] of this.#checks) {
        const isOverdue = now >= Math.max(at, since, alive) + after && (!isSilent || seen >= at + after)
        if (check.agent === agent && isOverdue)
          this.#move(`${id} overdue`, `${agent}/@overdue`, { ...check, rank: 2, loud: true }, 60 + LATENESS)
      }
    }
  }

  /** A member joins the incident of a key, or changes there, and leaves any other; one of rank 0 only leaves. */
  #move(id: string, key: string, member: Member, late = 0): void {
    const { loud, rank } = member
    const [left] = this.#open.filter(({ members }) => members.has(id))
    if (left !== undefined && (left.key !== key || rank === 0)) {
      left.members.delete(id)
      if (left.members.size > 0) this.#changed(left, false)
      else this.#close(left, loud)
    }
    const known = this.#open.find((one) => one.key === key)
    const before = known?.members.get(id)?.rank ?? 0
    if (before === rank) return
    const incident = known ?? new Incident(key, this.#now)
    if (known === undefined) this.#incidents.push(incident)
    incident.members.set(id, member)
    this.#changed(incident, loud && rank > before, late)
  }

  /** A resolved follows where a firing was attempted and not refused; nothing holds it. */
  #close(incident: Incident, isLoud: boolean): void {
    this.#happens()
    incident.isOpen = false
    incident.changes += 1
    for (const reach of incident.reaches.values()) {
      const rows = reach.rows.filter(({ state }) => state !== "pending")
      const follows = isLoud && rows.some(({ state }) => state !== "failed")
      const resolved = follows ? [this.#row(incident, { event: "resolved" })] : []
      Object.assign(reach, { held: undefined, rows: [...rows, ...resolved] })
    }
  }

  /** A loud event sets what is announced; an improvement lowers it; a silent worsening leaves it. */
  #changed(incident: Incident, isLoud: boolean, late = 0): void {
    const { reached } = incident
    const rank = Math.max(...Array.from(incident.members.values(), (member) => member.rank))
    incident.rank = rank
    incident.changes += 1
    this.#late = Math.max(this.#late, late)
    this.#happens(late)
    if (isLoud) reached[rank] ??= this.#moment(late)
    else if (incident.announced > rank) reached[rank] = incident.reachedAt(rank)
    incident.announced = isLoud ? rank : Math.min(incident.announced, rank)
    // A loud event above the acknowledged severity ends the acknowledgement.
    const endsAck = isLoud && rank > (incident.ack?.rank ?? 3)
    if (endsAck) incident.ack = undefined
    for (const receiver of this.#rules.receivers) {
      const [reach, { delay, isNamed }] = [incident.reach(receiver), this.#naming(incident, receiver)]
      if (endsAck) reach.again = isNamed
      const { held: before, knows } = reach
      this.#owe(incident, receiver, isLoud, late)
      const { held } = reach
      if (held === undefined || held === before || (knows === 0 && delay > 0)) continue
      // A row that is due at its own event is free, or held by the acknowledgement.
      if (incident.isAcknowledged) held.mayWait = true
      else this.#free(incident, receiver, held)
    }
  }

  // Who is owed a firing, and when

  #naming(incident: Incident, receiver: string) {
    const reach = incident.reach(receiver)
    const naming = this.#namings.get(reach) ?? this.name(incident, receiver)
    this.#namings.set(reach, naming)
    return naming
  }

  /** How the routes name a receiver, and the earliest time at which it is due. */
  name(incident: Incident, receiver: string) {
    const { announced, key, loud, openedAt, reached } = incident
    const openings = this.#incidents.filter((one) => one.key === key).map((one) => openedAt - one.openedAt)
    const openingsWithin = (seconds: number) => openings.filter((ago) => ago >= 0 && ago < seconds).length
    const worst = loud.toSorted((a, b) => b.rank - a.rank).slice(0, MOST_MEMBERS)
    /** When every member worse than `most` counts as `most`. */
    const namesAt = (most: number) =>
      worst
        .map(({ agent, check, rank }) => Naming.factsOf(key, Math.min(rank, most), agent, check))
        .flatMap((facts) => Naming.namesOf(this.#rules.policy, this.#rules.receivers, facts, openingsWithin))
        .filter((name) => name.receiver === receiver)
    const dues = [1, 2, 3]
      .filter((rank) => rank <= announced && reached[rank] !== undefined)
      .flatMap((rank) =>
        namesAt(rank).map((name) => ({ ...name, due: incident.reachedAt(rank) + name.delay })),
      )
      .toSorted((a, b) => a.due - b.due || Number(b.isFirst) - Number(a.isFirst))
    const { delay, due, isFirst } = dues[0] ?? { delay: 0, due: Infinity, isFirst: true }
    const present = namesAt(3)
    const remind = Math.min(...present.map((name) => name.remind))
    const more = { isLater: !isFirst, isFirst: present.some((name) => name.isFirst), remind }
    return { isNamed: present.length > 0, delay, due, ...more }
  }

  /** Whether a receiver is owed a firing; then a first step writes it, and a later one when it is due. */
  #owe(incident: Incident, receiver: string, isLoud: boolean, late: number): boolean {
    const [reach, naming] = [incident.reach(receiver), this.#naming(incident, receiver)]
    const { again, held, knows } = reach
    // Without routes, only a loud event makes a receiver owed.
    const mayBe = this.#rules.policy.routes !== undefined || isLoud || held !== undefined
    if (!naming.isNamed || !(again || (mayBe && knows < incident.announced))) {
      if (held === undefined) reach.owedSince = undefined
      return false
    }
    reach.owedSince ??= this.#moment(late)
    const due = Math.max(reach.owedSince, knows > 0 ? 0 : naming.due)
    if (naming.isFirst || due <= this.#now) reach.held ??= this.#row(incident, { due })
    if (reach.held === undefined) return true
    if (reach.held.byTime === undefined) reach.held.due = due
    reach.held.mayWait ||= knows === 0 && naming.delay > 0
    return true
  }

  /** Decides on the firings for one receiver. */
  #evaluate(incident: Incident, receiver: string): void {
    const [now, reach, naming] = [this.#now, incident.reach(receiver), this.#naming(incident, receiver)]
    if (!naming.isNamed && incident.loud.length > 0) {
      if (reach.held?.byTime !== undefined || reach.again) reach.held = undefined
      reach.again = false
    }
    const hadHeld = reach.held !== undefined
    const isOwed = this.#owe(incident, receiver, false, this.#late)
    const last = Math.max(...reach.rows.map(({ attempted = 0 }) => attempted))
    const isIdle = !isOwed && reach.rows.every(({ state }) => state !== "pending" && state !== "retry")
    const remindAt = isIdle && last > 0 && reach.held?.byTime === undefined ? last + naming.remind : Infinity
    // An acknowledgement ran out: each named receiver that knows of the incident, or has a held row, gets one.
    const hasAckEnded = incident.ackEnded === now && (hadHeld || reach.knows > 0)
    if (naming.isNamed && (hasAckEnded || remindAt <= now)) {
      const due = hasAckEnded ? now : remindAt
      reach.held ??= this.#row(incident, { due })
      Object.assign(reach.held, { byTime: hasAckEnded ? "ack_ran_out" : "reminder", due, mayWait: true })
    }
    const { held } = reach
    if (held === undefined) return
    const isDue = !this.#isHeld(incident, receiver, held) && held.due <= now
    const isFree = isDue && (isOwed || held.byTime !== undefined)
    const settled = this.#outage.to + SETTLING
    if (isFree && held.mayWait && this.#outage.from <= now && now < settled) held.waitsUntil ??= settled
    if (isFree && now >= Math.min(held.waitsUntil ?? 0, settled)) this.#free(incident, receiver, held)
    else held.mayWait = true
  }

  /** From then on, nothing holds a row: it states the present. */
  #free(incident: Incident, receiver: string, row: Row): void {
    const reach = incident.reach(receiver)
    const ofRule = this.#naming(incident, receiver).isLater ? "escalation" : "opened"
    const cause = row.byTime ?? (reach.knows > 0 ? "worsened" : ofRule)
    Object.assign(row, { rank: incident.rank, cause, isAgain: reach.again })
    Object.assign(reach, { held: undefined, rows: [...reach.rows, row], owedSince: undefined, again: false })
  }

  // Holds

  get #mutes(): ReadonlyArray<ReadonlyArray<string>> {
    const silences = this.#silences.filter(({ from, until }) => from <= this.#now && this.#now < until)
    return [...silences, ...Naming.windowsAt(this.#rules.policy, this.#now)].map(({ match }) => match)
  }

  get #stale(): ReadonlyArray<string> {
    const agents = Array.from(this.#agents).filter(([, { isSilent }]) => isSilent)
    return agents.flatMap(([agent, { seen }]) => (this.#now - seen >= STALE_AFTER ? [agent] : []))
  }

  /** Whether something holds a firing besides its own time. */
  #isHeld(incident: Incident, receiver: string, row: Row): boolean {
    const [{ facts }, mutes] = [incident, this.#mutes]
    const isMuted = facts.every((member) => mutes.some((match) => Naming.covers(match, [member])))
    const isQuiet = incident.announced < Naming.quietBelow(this.#rules.policy, receiver, this.#now)
    // Only a row that is held already stays so while all members are silent.
    const isCovered = facts.length === 0 ? row === incident.reach(receiver).held : isMuted
    return this.#hasParents(incident, row) || isCovered || isQuiet || incident.isAcknowledged
  }

  /** Whether parents hold a firing, and keeps when they ended. */
  #hasParents(incident: Incident, row: Row): boolean {
    const [now, { announced, facts, members }] = [this.#now, incident]
    const rules = members.size > MOST_MEMBERS ? [] : Naming.dependenciesOf(this.#rules.policy, facts)
    const stale = this.#stale.map((agent) => [Naming.factsOf(`${agent}/@heartbeat`, 3, agent)])
    const others = [
      ...this.#open.filter((one) => one !== incident && one.announced > 0),
      ...stale.map((facts) => ({ announced: 3, facts })),
    ]
    const worst = Math.max(0, ...rules.map((rule) => Naming.parentsOf(rule, facts, others)))
    const grace = Math.max(0, ...rules.map((rule) => rule.grace ?? 0))
    const [had, holds] = [row.hasParents === true, worst > 0 && worst >= announced]
    if (worst > 0) row.parentEnded = undefined
    else if (had) row.parentEnded ??= this.#moment(LATENESS)
    if (had) row.firstEnded ??= row.parentEnded
    const recovers = had && now < (row.parentEnded ?? 0) + RECOVERY
    row.hasParents = (worst > 0 ? holds : recovers) && now < (row.firstEnded ?? Infinity) + LONGEST
    const waitsUntil = grace + (row.byTime === undefined ? Math.max(row.written, row.due) : row.written)
    // The pass after a change of a parent.
    if (had && !row.hasParents && row.due <= now) row.freed = this.#moment(LATENESS)
    else if (Math.ceil(waitsUntil) === now) row.freed = waitsUntil
    return row.hasParents || (!holds && now < waitsUntil)
  }

  // Sending, which is part of the instant in which a row is free

  #row({ changes: change, rank }: Incident, { due = this.#now, event = "firing" }: Partial<Row>): Row {
    this.#happens()
    const written = Math.ceil(due) === this.#now ? due : this.#now
    return { event, state: "pending", rank, due, written, change, mayWait: false }
  }

  /** Attempts a row after those of earlier changes, and those before it of its own. One that is held now becomes the only held one. */
  #claim(incident: Incident, receiver: string, row: Row): void {
    const reach = incident.reach(receiver)
    const { again, rows } = reach
    const isBefore = ({ change }: Row, place: number) =>
      change < row.change || (change === row.change && place < rows.indexOf(row))
    if (row.event === "firing" && row.attempted === undefined && this.#isHeld(incident, receiver, row)) {
      const left = rows.filter((other) => other !== row)
      row.mayWait = true
      Object.assign(reach, { held: row, rows: left, owedSince: row.due, again: again || row.isAgain })
    } else if (!rows.some((other, place) => other.state === "retry" && isBefore(other, place)))
      this.#attempt(incident, receiver, row)
  }

  #attempt(incident: Incident, receiver: string, row: Row): void {
    const [{ key }, { cause, due, event, freed = due, rank }, from] = [incident, row, this.now]
    const isKnown = incident
      .reach(receiver)
      .rows.some((one) => one.event === "firing" && one.state === "sent")
    const late = [due, freed].map((time) => (Math.ceil(time) === this.#now ? lateOf(time) : 0))
    const to = from + Math.max(this.#late, ...late) + LATENESS
    this.#happens(to - LATENESS - from)
    row.attempted = this.#moment(to - from)
    const answer = this.#answers.get(receiver) ?? "accepts"
    row.state = ({ accepts: "sent", is_down: "retry", refuses: "failed" } as const)[answer]
    // A resolved ends where no firing arrived.
    if (event === "resolved" && !isKnown) row.state = "failed"
    const opening = this.#incidents.filter((one) => one.key === key).indexOf(incident) + 1
    const severity = severityOf(rank)
    if (row.state === "sent") this.messages.push({ receiver, key, opening, event, cause, severity, from, to })
  }

  /** Now, or so much later. */
  #moment(late: number): number {
    return this.#now - late / FRACTION
  }

  /** Something happens, or may happen so much later. */
  #happens(late = 0): void {
    this.#namings.clear()
    if (this.now <= this.#busyBefore) this.racingFrom = Math.min(this.racingFrom, this.now)
    this.busyUntil = Math.max(this.busyUntil, this.now + late + LATENESS)
  }
}

const lateOf = (time: number): number => Math.round((Math.ceil(time) - time) * FRACTION)

/** After a clock was set back, what happened counts as of now; what people named ends when they said. */
const clamp = (facts: object, now: number): void => {
  for (const [name, fact] of facts instanceof Map ? facts : Object.entries(facts)) {
    if (typeof fact === "object" && fact !== null) clamp(fact, now)
    if (typeof fact !== "number" || fact <= now || /until/iu.test(name)) continue
    if (facts instanceof Map) facts.set(name, now)
    else Reflect.set(facts, name, now)
  }
}
