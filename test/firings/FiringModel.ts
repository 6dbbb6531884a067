import {
  covers,
  type Facts,
  namesOf,
  quietBelow,
  rankOf,
  secondsOf,
  severityOf,
  windowsAt,
} from "./NamingModel.ts"
import {
  AGENTS,
  type Cause,
  DEAD_AFTER,
  type Happening,
  type Message,
  STALE_AFTER,
  type Story,
} from "./Story.ts"

/** How late background work may be; how long after an outage agents may report; when a retry is due. */
const [LATENESS, SETTLING, RETRY_AFTER] = [15, 120, 3_600]
/** How long a child waits for its recovery, and how long parents hold it from the first end on. */
const [RECOVERY, LONGEST] = [120, 600]
const MOST_MEMBERS = 500
/** All times of stories are multiples of it. */
const TICK = 10

interface Member {
  readonly agent: string
  readonly check: string
  readonly rank: number
  readonly loud: boolean
}

interface Row {
  readonly receiver: string
  readonly event: "firing" | "resolved"
  readonly written: number
  state: "held" | "pending" | "retry" | "sent" | "failed" | "discarded"
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
  hasParents: boolean
  parentEnded?: number | undefined
  firstEnded?: number
  freed?: number
}

interface Incident {
  readonly key: string
  readonly opening: number
  readonly openedAt: number
  readonly members: Map<string, Member>
  readonly rows: Array<Row>
  /** When it was first announced at each severity. */
  readonly reached: Array<number>
  /** Since when receivers are owed a firing, and those that are whatever they know. */
  readonly owed: Map<string, number>
  readonly again: Set<string>
  rank: number
  announced: number
  ack?: { readonly rank: number; readonly until: number } | undefined
  isOpen: boolean
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
  #namings = new Map<string, ReturnType<FiringModel["name"]>>()
  readonly #outage = { from: 0, to: 0 }
  readonly #incidents: Array<Incident> = []
  readonly #silences: Array<{ match: ReadonlyArray<string>; from: number; until: number }> = []
  readonly #answers = new Map<string, string>()
  readonly #checks = new Map<
    string,
    Member & { key: string; at: number; after?: number; isOverdue: boolean }
  >()
  readonly #agents = new Map<string, { seen: number; since: number; isSilent: boolean; isDead: boolean }>()

  constructor(story: Story) {
    this.#now = this.#epoch = Date.parse(story.begins) / 1_000
    this.#rules = story
    for (const agent of Object.keys(AGENTS))
      this.#agents.set(agent, { seen: this.#now, since: this.#now, isSilent: false, isDead: false })
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
    const isHeldSoon = ({ incident, row }: ReturnType<FiringModel["pending"]>[number]) =>
      this.#isHeld(incident, row)
    return this.#late > 0 || this.pending().some(isHeldSoon)
  }

  get #open(): ReadonlyArray<Incident> {
    return this.#incidents.filter(({ isOpen }) => isOpen)
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
      if (this.now < this.#stoppedUntil) continue
      this.#passTime()
      this.flush()
      this.#busyBefore = -1
    }
  }

  take(step: Happening): void {
    const [now, checks] = [this.#now, this.#checks]
    if (["silence", "expire", "policy", "clock_back"].includes(step.step)) this.#late = LATENESS
    this.#happens(this.#late)
    this.#circumstances = ""
    if (step.step === "silence")
      this.#silences.push({ match: step.match, from: now, until: now + step.lasts })
    if (step.step === "policy") this.#rules = step
    if (step.step === "answers") this.#answers.set(step.receiver, step.how)
    if (step.step === "expire") {
      const silence = this.#silences[step.which % this.#silences.length]
      if (silence !== undefined) silence.until = Math.min(silence.until, now)
    }
    if (step.step === "acknowledge" || step.step === "withdraw") {
      const incident = this.pick(step.which)
      const ack =
        step.step === "withdraw" ? undefined : { rank: incident?.rank ?? 0, until: now + step.lasts }
      if (incident !== undefined) incident.ack = ack
    }
    if (step.step === "stops") {
      this.#stoppedUntil = this.now + step.lasts
      if (step.lasts > STALE_AFTER) Object.assign(this.#outage, { from: now, to: now + step.lasts })
    }
    if (step.step === "clock_back") {
      this.#now -= step.by
      this.#epoch -= step.by
      clamp([this.#incidents, this.#agents, this.#checks, this.#outage], this.#moment(LATENESS))
    }
    if (step.step === "expect") {
      const [id, { agent, after, check }] = [`${step.agent}/${step.check}`, step]
      const known = checks.get(id) ?? { agent, check, key: id, rank: 0, loud: true }
      if (!("after" in known)) checks.set(id, { ...known, at: now, after, isOverdue: false })
    }
    if (step.step === "falls_silent" || step.step === "returns")
      this.#contact(step.agent, step.step === "falls_silent")
    if (step.step !== "report") return
    this.#contact(step.agent, this.#agents.get(step.agent)?.isSilent === true)
    for (const { check, key, loud, status } of step.results) {
      const [id, agent, rank] = [`${step.agent}/${check}`, step.agent, rankOf(status)]
      const known = checks.get(id) ?? { rank: 0, key: id, loud }
      // Only a change of the status brings another key, and decides whether it is loud.
      const changed = rank === known.rank ? {} : { rank, loud, key: key ?? id }
      checks.set(id, { ...known, agent, check, ...changed, at: now, isOverdue: false })
      this.#follow(loud)
    }
  }

  /** Evaluates every incident, and claims what is pending, once all of an instant has happened. */
  flush(): void {
    if (this.now < this.#stoppedUntil) return
    const [now, since] = [this.#now, this.#outage.to]
    for (const agent of this.#agents.values())
      agent.isDead ||= agent.isSilent && now >= Math.max(agent.seen, since) + DEAD_AFTER
    for (const check of this.#checks.values()) {
      const [{ after = Infinity, at }, agent] = [check, this.#agents.get(check.agent)]
      const wasSeen = agent?.isSilent === false || (agent?.seen ?? 0) >= at + after
      check.isOverdue ||= wasSeen && now >= Math.max(at, agent?.since ?? 0, since) + after
    }
    this.#follow()
    for (const incident of this.#open)
      for (const receiver of this.#rules.receivers) this.#evaluate(incident, receiver)
    for (const { incident, row } of this.pending()) {
      const own = incident.rows.filter(({ receiver }) => receiver === row.receiver)
      if (row.event === "firing" && row.attempted === undefined && this.#isHeld(incident, row)) {
        // A claim that finds a hold makes the row a held one.
        for (const other of own) if (other.state === "held") other.state = "discarded"
        Object.assign(row, { state: "held", mayWait: true })
        incident.owed.set(row.receiver, row.due)
        if (row.isAgain === true) incident.again.add(row.receiver)
      } else if (own.slice(0, own.indexOf(row)).every(({ state }) => state !== "retry"))
        this.#attempt(incident, row)
    }
    this.#late = 0
  }

  pending() {
    const isPending = ({ receiver, state }: Row) =>
      state === "pending" && this.#rules.receivers.includes(receiver)
    return this.#incidents.flatMap((incident) =>
      incident.rows.filter(isPending).map((row) => ({ incident, row })),
    )
  }

  /** Everything that happens by itself. */
  #passTime(): void {
    const quiet = this.#rules.receivers.map((receiver) => quietBelow(this.#rules.policy, receiver, this.#now))
    const circumstances = JSON.stringify([this.#mutes, quiet, this.#silent])
    if (!["", circumstances].includes(this.#circumstances)) this.#happens()
    this.#circumstances = circumstances
    for (const row of this.#incidents.flatMap(({ rows }) => rows))
      if (row.state === "retry" && (row.attempted ?? 0) + RETRY_AFTER <= this.#now)
        Object.assign(row, { state: "pending", due: (row.attempted ?? 0) + RETRY_AFTER })
    for (const incident of this.#open)
      if (this.#now >= (incident.ack?.until ?? Infinity)) this.#expire(incident)
  }

  // Members

  #contact(agent: string, isSilent: boolean): void {
    const [known, now] = [this.#agents.get(agent), this.#now]
    const since = known?.isSilent === true && now - known.seen >= STALE_AFTER ? now : (known?.since ?? now)
    this.#agents.set(agent, { seen: now, since, isSilent, isDead: false })
    this.#follow()
  }

  /** Members are the checks that fail, the agents that are dead, and the checks that are overdue. */
  #follow(loud = true): void {
    const checks = Array.from(this.#checks, ([id, check]) => ({ id, ...check }))
    const dead = Array.from(this.#agents).flatMap(([agent, { isDead }]) => (isDead ? [agent] : []))
    const failing = [
      ...checks.filter(({ rank }) => rank > 0).map((one) => ({ ...one, late: 0 })),
      ...dead.map((agent) => ({
        agent,
        check: "",
        id: agent,
        key: `${agent}/@heartbeat`,
        rank: 3,
        loud: true,
        late: LATENESS,
      })),
      // The agent's next heartbeat comes within a minute.
      ...checks
        .filter(({ isOverdue }) => isOverdue)
        .map((one) => ({ ...one, key: `${one.agent}/@overdue`, rank: 2, loud: true, late: 60 + LATENESS })),
    ]
    for (const incident of this.#open)
      for (const id of incident.members.keys()) {
        if (failing.some((one) => one.key === incident.key && one.id === id)) continue
        incident.members.delete(id)
        if (incident.members.size > 0) this.#changed(incident, false, 0)
        else this.#close(incident, loud || incident.key.includes("/@"))
      }
    for (const member of failing) {
      const incident = this.#open.find(({ key }) => key === member.key) ?? this.#opened(member.key)
      const before = incident.members.get(member.id)?.rank ?? 0
      if (before === member.rank) continue
      incident.members.set(member.id, member)
      this.#changed(incident, member.loud && member.rank > before, member.late)
    }
  }

  #opened(key: string): Incident {
    const opening = this.#incidents.filter((one) => one.key === key).length + 1
    const nothing = { rows: [], reached: [], rank: 0, announced: 0, isOpen: true }
    const ofReceivers = { owed: new Map(), again: new Set<string>() }
    const incident: Incident = {
      key,
      opening,
      openedAt: this.#now,
      members: new Map(),
      ...ofReceivers,
      ...nothing,
    }
    this.#incidents.push(incident)
    return incident
  }

  /** A resolved follows where a firing was attempted and not refused; nothing holds it. */
  #close(incident: Incident, loud: boolean): void {
    this.#happens()
    incident.isOpen = false
    for (const row of incident.rows) if (["held", "pending"].includes(row.state)) row.state = "discarded"
    const attempted = incident.rows.filter(({ state }) => ["sent", "retry"].includes(state))
    for (const receiver of new Set(loud ? attempted.map((row) => row.receiver) : []))
      this.#row(incident, receiver, this.#now, "resolved")
  }

  /** A loud event sets what is announced; an improvement lowers it; a silent worsening leaves it. */
  #changed(incident: Incident, isLoud: boolean, late: number): void {
    const { again, reached } = incident
    const rank = Math.max(...Array.from(incident.members.values(), (member) => member.rank))
    incident.rank = rank
    this.#late = Math.max(this.#late, late)
    this.#happens(late)
    if (isLoud) reached[rank] ??= this.#moment(late)
    else if (incident.announced > rank) reached[rank] = reachedAt(incident, rank)
    incident.announced = isLoud ? rank : Math.min(incident.announced, rank)
    // A loud event above the acknowledged severity ends the acknowledgement.
    if (isLoud && rank > (incident.ack?.rank ?? 3)) {
      incident.ack = undefined
      for (const receiver of this.#rules.receivers) if (this.#naming(incident, receiver)) again.add(receiver)
    }
    for (const receiver of this.#rules.receivers) this.#evaluate(incident, receiver, { isLoud, late })
  }

  // Who is owed a firing, and when

  #naming(incident: Incident, receiver: string) {
    const name = `${incident.opening} ${incident.key} ${receiver}`
    if (!this.#namings.has(name)) this.#namings.set(name, this.name(incident, receiver))
    return this.#namings.get(name)
  }

  /** How the routes name a receiver, and the earliest time at which it is due. */
  name(incident: Incident, receiver: string) {
    const { announced, key, openedAt, reached } = incident
    const openings = this.#incidents.filter((one) => one.key === key).map((one) => openedAt - one.openedAt)
    const openingsWithin = (seconds: number) => openings.filter((ago) => ago >= 0 && ago < seconds).length
    const worst = loudOf(incident)
      .toSorted((a, b) => b.rank - a.rank)
      .slice(0, MOST_MEMBERS)
    /** When every member worse than `most` counts as `most`. */
    const namesAt = (most: number) =>
      worst
        .map((member) => factsOf(key, Math.min(member.rank, most), member))
        .flatMap((facts) => namesOf(this.#rules.policy, this.#rules.receivers, facts, openingsWithin))
        .filter((name) => name.receiver === receiver)
    const present = namesAt(3)
    const dues = [1, 2, 3]
      .filter((rank) => rank <= announced && reached[rank] !== undefined)
      .flatMap((rank) =>
        namesAt(rank).map((name) => ({ ...name, due: reachedAt(incident, rank) + name.delay })),
      )
      .toSorted((a, b) => a.due - b.due || Number(b.isFirst) - Number(a.isFirst))
    const { delay, due, isFirst } = dues[0] ?? { delay: 0, due: Infinity, isFirst: true }
    const remind = Math.min(...present.map((name) => name.remind))
    return present.length === 0
      ? undefined
      : { delay, due, isLater: !isFirst, isFirst: present.some((name) => name.isFirst), remind }
  }

  /** Decides on the firings for one receiver. The transaction of an event only writes what it makes owed. */
  #evaluate(
    incident: Incident,
    receiver: string,
    event?: { readonly isLoud: boolean; readonly late: number },
  ): void {
    const { again, announced, owed, rows } = incident
    const naming = this.#naming(incident, receiver)
    const own = rows.filter((row) => row.receiver === receiver && row.event === "firing")
    let held = own.find(({ state }) => state === "held")
    if (event === undefined && naming === undefined && loudOf(incident).length > 0) {
      if (held !== undefined && (held.byTime !== undefined || again.has(receiver))) held.state = "discarded"
      if (held?.state === "discarded") held = undefined
      again.delete(receiver)
    }
    const [before, knows] = [held, knownBy(incident, receiver)]
    // Without routes, only a loud event makes a receiver owed.
    const mayBeOwed = this.#rules.policy.routes !== undefined || event?.isLoud === true || held !== undefined
    const isOwed = naming !== undefined && (again.has(receiver) || (mayBeOwed && knows < announced))
    if (isOwed) {
      const since = owed.get(receiver) ?? this.#moment(event?.late ?? this.#late)
      owed.set(receiver, since)
      const due = Math.max(since, knows > 0 ? 0 : naming.due)
      if (naming.isFirst || due <= this.#now) held ??= this.#row(incident, receiver, due)
      if (held !== undefined && held.byTime === undefined) held.due = due
      if (held !== undefined) held.mayWait ||= knows === 0 && naming.delay > 0
    } else if (held === undefined) owed.delete(receiver)
    if (event !== undefined) {
      const isDue = held !== before && (knows > 0 || naming?.delay === 0)
      if (held !== undefined && isDue && !isAcknowledged(incident)) this.#free(incident, held)
      return
    }
    const last = Math.max(...own.map(({ attempted }) => attempted ?? -Infinity))
    const remindAt = naming !== undefined && last > 0 ? last + naming.remind : Infinity
    const isIdle = !isOwed && own.every(({ state }) => state !== "pending" && state !== "retry")
    if (isIdle && held?.byTime === undefined && remindAt <= this.#now)
      held = this.#byTime(incident, receiver, "reminder", remindAt)
    if (held === undefined) return
    const isFree =
      !this.#isHeld(incident, held) && held.due <= this.#now && (isOwed || held.byTime !== undefined)
    const settled = this.#outage.to + SETTLING
    if (isFree && held.mayWait && this.#outage.from <= this.#now && this.#now < settled)
      held.waitsUntil ??= settled
    if (isFree && this.#now >= (held.waitsUntil ?? 0)) this.#free(incident, held)
    else held.mayWait = true
  }

  #free(incident: Incident, row: Row): void {
    const { byTime, receiver } = row
    const ofRule = this.#naming(incident, receiver)?.isLater === true ? "escalation" : "opened"
    const cause = byTime ?? (knownBy(incident, receiver) > 0 ? "worsened" : ofRule)
    const isAgain = incident.again.delete(receiver)
    Object.assign(row, { state: "pending", rank: incident.rank, cause, isAgain })
    incident.owed.delete(receiver)
  }

  /** A row that is due by time; one that waits is used. */
  #byTime(incident: Incident, receiver: string, byTime: "ack_ran_out" | "reminder", due: number): Row {
    const held = incident.rows.find((row) => row.receiver === receiver && row.state === "held")
    return Object.assign(held ?? this.#row(incident, receiver, due), { byTime, due, mayWait: true })
  }

  /** An acknowledgement ran out: each named receiver that knows of the incident, or has a held row, gets one. */
  #expire(incident: Incident): void {
    this.#happens()
    incident.ack = undefined
    for (const receiver of this.#rules.receivers) {
      const hasHeld = incident.rows.some((row) => row.receiver === receiver && row.state === "held")
      if (this.#naming(incident, receiver) && (hasHeld || knownBy(incident, receiver) > 0))
        this.#byTime(incident, receiver, "ack_ran_out", this.#now)
    }
  }

  // Holds

  get #mutes(): ReadonlyArray<ReadonlyArray<string>> {
    const silences = this.#silences.filter(({ from, until }) => from <= this.#now && this.#now < until)
    return [...silences, ...windowsAt(this.#rules.policy, this.#now)].map(({ match }) => match)
  }

  /** Whether something holds a firing besides its own time. */
  #isHeld(incident: Incident, row: Row): boolean {
    const [facts, mutes] = [factsIn(incident), this.#mutes]
    const isMuted = facts.every((member) => mutes.some((match) => covers(match, [member])))
    const isQuiet = incident.announced < quietBelow(this.#rules.policy, row.receiver, this.#now)
    // Only a row that is held already stays so while all members are silent.
    const isCovered = facts.length === 0 ? row.state === "held" : isMuted
    return this.#isExplained(incident, row) || isCovered || isQuiet || isAcknowledged(incident)
  }

  /** Whether parents hold a firing, and keeps when they ended. */
  #isExplained(incident: Incident, row: Row): boolean {
    const { grace, worst } = this.#parents(incident)
    const [had, holds] = [row.hasParents, worst > 0 && worst >= incident.announced]
    if (worst > 0) row.parentEnded = undefined
    else if (had)
      Object.assign(row, {
        parentEnded: row.parentEnded ?? this.#moment(LATENESS),
        firstEnded: row.firstEnded ?? this.#moment(LATENESS),
      })
    const recovers = had && this.#now < (row.parentEnded ?? 0) + RECOVERY
    row.hasParents = (worst > 0 ? holds : recovers) && this.#now < (row.firstEnded ?? Infinity) + LONGEST
    const from = row.byTime === undefined ? Math.max(row.written, row.due) : row.written
    // The pass after a change of a parent.
    if (had && !row.hasParents && row.due <= this.#now) row.freed = this.#moment(LATENESS)
    else if (Math.ceil(from + grace) === this.#now) row.freed = from + grace
    return row.hasParents || (!holds && this.#now < from + grace)
  }

  get #silent(): ReadonlyArray<string> {
    return Array.from(this.#agents).flatMap(([agent, { isSilent, seen }]) =>
      isSilent && this.#now - seen >= STALE_AFTER ? [agent] : [],
    )
  }

  /** The worst severity up to which parents of one rule hold an incident, and the grace of its rules. */
  #parents(incident: Incident): { readonly worst: number; readonly grace: number } {
    const [own, { dependencies = [] }] = [factsIn(incident), this.#rules.policy]
    // Only rules before the first one whose parent it is; an absent or empty value equals nothing.
    const first = dependencies.findIndex(({ parent }) => covers(parent, own))
    const rules = dependencies
      .slice(0, first < 0 ? undefined : first)
      .filter(
        ({ child, equal }) =>
          covers(child, own) && own.every((facts) => equal.every((field) => facts[field])),
      )
    if (rules.length === 0 || incident.members.size > MOST_MEMBERS) return { worst: 0, grace: 0 }
    const undead = this.#silent.filter((agent) => this.#agents.get(agent)?.isDead === false)
    const stale = undead.map((agent) => ({
      announced: 3,
      facts: [factsOf(`${agent}/@heartbeat`, 3, { agent })],
    }))
    const open = this.#open.filter((one) => one !== incident && one.announced > 0)
    const others = open.map((one) => ({ announced: one.announced, facts: factsIn(one) }))
    const found = rules.map(({ equal, parent }) => {
      const takesStale = parent.some((text) => /^incident_key (?:=|glob) .*\/@heartbeat$/u.test(text))
      const parents = [...others, ...(takesStale ? stale : [])].filter(({ facts }) => covers(parent, facts))
      // Each loud member needs a parent with a loud member of equal values.
      return Math.min(
        ...own.map((facts) => {
          const isEqual = (other: Facts) => equal.every((field) => other[field] === facts[field])
          return Math.max(
            0,
            ...parents.filter((one) => one.facts.some(isEqual)).map(({ announced }) => announced),
          )
        }),
      )
    })
    return { worst: Math.max(...found), grace: Math.max(...rules.map(({ grace }) => secondsOf(grace))) }
  }

  // Sending, which is part of the instant in which a row is free

  #row({ rank, rows }: Incident, receiver: string, due: number, event: Row["event"] = "firing"): Row {
    const written = Math.ceil(due) === this.#now ? due : this.#now
    const nothing = { written, mayWait: false, hasParents: false }
    const row: Row = {
      receiver,
      event,
      state: event === "firing" ? "held" : "pending",
      rank,
      due,
      ...nothing,
    }
    rows.push(row)
    this.#happens()
    return row
  }

  #attempt({ key, opening, rows }: Incident, row: Row): void {
    const { cause, due, event, freed = due, receiver } = row
    const arrived = rows.some(
      (one) => one.receiver === receiver && one.event === "firing" && one.state === "sent",
    )
    const from = this.now
    const late = Math.max(
      this.#late,
      ...[due, freed].map((time) => (Math.ceil(time) === this.#now ? lateOf(time) : 0)),
    )
    const to = from + late + LATENESS
    this.#happens(to - LATENESS - this.now)
    row.attempted = this.#moment(to - from)
    const answer = this.#answers.get(receiver) ?? "accepts"
    row.state = ({ is_down: "retry", refuses: "failed" } as const)[answer] ?? "sent"
    if (event === "resolved" && !arrived) row.state = "discarded"
    if (row.state === "sent")
      this.messages.push({ receiver, key, opening, event, cause, severity: severityOf(row.rank), from, to })
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

/** How much later a time may be: the fraction that it lacks to a second. */
const FRACTION = 10_000
const lateOf = (time: number): number => Math.round((Math.ceil(time) - time) * FRACTION)

const loudOf = ({ members }: Incident): ReadonlyArray<Member> =>
  Array.from(members.values()).filter(({ loud }) => loud)

/** A receiver knows the highest severity of its firings that are neither held nor discarded. */
const knownBy = ({ rows }: Incident, receiver: string): number => {
  const own = rows.filter((row) => row.receiver === receiver && row.event === "firing")
  return Math.max(
    0,
    ...own.filter(({ state }) => !["held", "discarded"].includes(state)).map(({ rank }) => rank),
  )
}

/** When an incident was first announced at a severity or worse. */
const reachedAt = ({ reached }: Incident, rank: number): number =>
  Math.min(...[1, 2, 3].filter((one) => one >= rank).map((one) => reached[one] ?? Infinity))

const isAcknowledged = ({ ack, announced }: Incident): boolean => ack !== undefined && announced <= ack.rank

/** The facts of its loud members, or of the agent that it is about, with the incident's severity. */
const factsIn = (incident: Incident): ReadonlyArray<Facts> =>
  loudOf(incident).map(({ agent, check }) =>
    factsOf(incident.key, incident.rank, { agent, check: incident.key.includes("/@") ? "" : check }),
  )

const factsOf = (
  incident_key: string,
  rank: number,
  { agent, check = "" }: { agent: string; check?: string },
): Facts => ({
  agent_id: agent,
  hostname: `${agent}.example.org`,
  check_id: check,
  incident_key,
  severity: severityOf(rank),
  ...Object.fromEntries(Object.entries(AGENTS[agent] ?? {}).map(([name, value]) => [`label:${name}`, value])),
})

/** After a clock was set back, what happened counts as of now; what people named ends when they said. */
const clamp = (facts: object, now: number): void => {
  for (const [name, fact] of facts instanceof Map ? facts : Object.entries(facts)) {
    if (typeof fact === "object" && fact !== null) clamp(fact, now)
    if (typeof fact !== "number" || fact <= now || /until/iu.test(name)) continue
    if (facts instanceof Map) facts.set(name, now)
    else Reflect.set(facts, name, now)
  }
}
