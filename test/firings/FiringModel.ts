import {
  AGENTS,
  type Cause,
  DEAD_AFTER,
  type Happening,
  type Message,
  type Policy,
  type Route,
  type Severity,
  STALE_AFTER,
} from "./Story.ts"

/** How late background work may be, and how long after an outage its agents report recoveries. */
const LATENESS = 15
const SETTLING = 120
const RETRY_AFTER = 3_600
const MOST_MEMBERS = 500
/** How long a child waits for its recovery, and how long parents hold it from the first end on. */
const RECOVERY = 120
const LONGEST = 600
const RANK = { warning: 1, unknown: 2, critical: 3 } as const
const rank = (severity: Severity | undefined): number => (severity === undefined ? 0 : RANK[severity])
const WORST_FIRST: ReadonlyArray<Severity> = ["critical", "unknown", "warning"]

/** A time, and how much later it may be because background work preceded it. */
interface Time {
  readonly at: number
  readonly slack: number
}
const plus = ({ at, slack }: Time, more: number): Time => ({ at: at + more, slack })
const earlier = (a: Time, b: Time): Time => (b.at < a.at ? b : a)
const later = (a: Time, b: Time): Time => (b.at > a.at ? b : a)

type Window = NonNullable<Policy["windows"]>[number]

interface Member {
  readonly agent: string
  readonly check: string | undefined
  readonly status: Severity
  readonly loud: boolean
}

interface Row {
  readonly receiver: string
  readonly event: "firing" | "resolved"
  state: "held" | "pending" | "retry" | "sent" | "failed" | "discarded"
  /** The reason of the row, if no rule of "who is owed" made it. */
  reason: "ack_ran_out" | "reminder" | undefined
  /** Whether it has a delay or a reason, or was held: only then an outage makes it wait. */
  mayWait: boolean
  waited: boolean
  waitsUntil: number
  due: Time
  written: Time
  /** When its parents let it go. */
  freed: Time
  /** Whether parents hold it, when the last one ended, and when it did for the first time. */
  hasParents: boolean
  parentEnded: Time | undefined
  firstParentEnded: number
  graceUntil: Time
  cause: Cause | undefined
  severity: Severity
}

interface Incident {
  readonly key: string
  readonly opening: number
  readonly members: Map<string, Member>
  readonly rows: Array<Row>
  readonly reached: Map<Severity, Time>
  readonly attempted: Map<string, Time>
  readonly owedSince: Map<string, Time>
  /** Receivers that are owed a firing whatever they know, since a loud event ended the acknowledgement. */
  readonly overAck: Set<string>
  openedAt: number
  severity: Severity
  announced: Severity | undefined
  ack: { readonly severity: Severity; until: number } | undefined
  isOpen: boolean
}

interface Naming {
  readonly due: Time
  readonly delay: number
  /** Whether a first step, `to` or the absence of a route names it. */
  readonly isFirst: boolean
  readonly isEscalation: boolean
  readonly remind: number | undefined
}

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const
const secondsOf = (text = "0s"): number =>
  Number(text.slice(0, -1)) * UNITS[text.slice(-1) as keyof typeof UNITS]

const matches = (fields: ReadonlyMap<string, string>, matchers: ReadonlyArray<string> = []): boolean =>
  matchers.every((matcher) => {
    const [field = "", op = "", wanted = ""] = matcher.split(" ")
    const value = fields.get(field) ?? ""
    if (op === "glob")
      return new RegExp(`^${wanted.replaceAll("*", ".*").replaceAll("?", ".")}$`, "u").test(value)
    return (op === "=") === (value === wanted)
  })

const fieldsOf = (key: string, severity: Severity, { agent, check }: Member) =>
  new Map([
    ["agent_id", agent],
    ["hostname", `${agent}.example.org`],
    ["check_id", check ?? ""],
    ["incident_key", key],
    ["severity", severity],
    ...Object.entries(AGENTS[agent] ?? {}).map(([name, value]) => [`label:${name}`, value] as const),
  ])

/**
 * Which messages a story leads to, by docs/rules.md alone. It shares nothing with the core. Sending is
 * part of the instant in which a row is free.
 */
export class FiringModel {
  readonly messages: Array<Message> = []
  now = 0
  /** Nothing may happen before that time: background work may not be done until then. */
  busyUntil = 0
  /** Whether two pieces of background work could happen in either order, from here on. */
  isRacing = false
  #policy: Policy
  #receivers: ReadonlyArray<string>
  readonly #epoch: number
  readonly #incidents: Array<Incident> = []
  readonly #silences: Array<{ match: ReadonlyArray<string>; from: number; until: number }> = []
  readonly #answers = new Map<string, string>()
  readonly #checks = new Map<string, { key: string; status: Severity | "ok"; at: number; overdue?: number }>()
  readonly #agents = new Map<string, { seen: number; since: number; silent: boolean }>()
  /** The latest stop, and the latest one that counts as an outage. */
  #stoppedUntil = -Infinity
  #outage = { from: -Infinity, until: -Infinity }
  #setBack = 0
  /** How late an evaluation of this instant may be. */
  #passes = 0

  constructor(begins: number, policy: Policy, receivers: ReadonlyArray<string>) {
    this.#epoch = begins
    this.#policy = policy
    this.#receivers = receivers
    for (const agent of Object.keys(AGENTS)) this.#agents.set(agent, { seen: 0, since: 0, silent: false })
  }

  /** A service that starts and stops in one instant may not notice that it started. */
  get isStopped(): boolean {
    return this.now <= this.#stoppedUntil
  }

  /** Whether a pass or a claim is to come that would hold a row: a stop of the same instant may overtake it. */
  get isUndecided(): boolean {
    const isHeldSoon = (incident: Incident) =>
      incident.rows.some((row) => row.state === "pending" && this.#holds(incident, row).length > 0)
    return this.#passes > 0 || this.open.some(isHeldSoon)
  }

  get open(): ReadonlyArray<Incident> {
    return this.#incidents.filter(({ isOpen }) => isOpen)
  }

  /** Does what is due until then. */
  advance(until: number): void {
    for (let wake = this.#next(); wake !== undefined && wake.at <= until; wake = this.#next()) {
      if (wake.at > this.now && wake.at <= this.busyUntil) this.isRacing = true
      this.now = Math.max(this.now, wake.at)
      this.#busy(wake)
      this.#wake(wake)
    }
    this.now = until
  }

  take(step: Happening): void {
    const event: Time = { at: this.now, slack: 0 }
    if (["silence", "expire", "policy", "clock_back"].includes(step.step)) this.#passes = LATENESS
    switch (step.step) {
      case "report":
        this.#contact(step.agent)
        for (const { check, key, loud, status } of step.results) {
          const id = `${step.agent}/${check}`
          const before = this.#checks.get(id)
          const [present, wanted] = [before?.status ?? "ok", key ?? id]
          const stays = status === present
          const at = stays ? (before?.key ?? wanted) : wanted
          this.#checks.set(id, { ...before, key: at, status, at: this.now })
          this.#leave(`${step.agent}/@overdue`, id, true, event)
          if (stays) continue
          if (present !== "ok" && (status === "ok" || before?.key !== at))
            this.#leave(before?.key ?? id, id, loud, event)
          if (status !== "ok") this.#join(at, id, { agent: step.agent, check, status, loud }, event)
        }
        break
      case "falls_silent":
        this.#contact(step.agent)
        this.#agent(step.agent).silent = true
        break
      case "returns":
        this.#contact(step.agent)
        this.#agent(step.agent).silent = false
        break
      case "expect": {
        const id = `${step.agent}/${step.check}`
        const known = this.#checks.get(id) ?? { key: id, status: "ok" }
        if (this.#checks.get(id)?.overdue === undefined)
          this.#checks.set(id, { ...known, at: this.now, overdue: step.after })
        break
      }
      case "acknowledge": {
        const incident = this.#pick(step.which)
        if (incident !== undefined)
          incident.ack = { severity: incident.severity, until: this.now + step.lasts }
        break
      }
      case "withdraw": {
        const incident = this.#pick(step.which)
        if (incident !== undefined) incident.ack = undefined
        break
      }
      case "silence":
        this.#silences.push({ match: step.match, from: this.now, until: this.now + step.lasts })
        break
      case "expire": {
        const silence = this.#silences[step.which % this.#silences.length]
        if (silence !== undefined) silence.until = Math.min(silence.until, this.now)
        break
      }
      case "policy":
        this.#policy = step.policy
        this.#receivers = step.receivers
        break
      case "answers":
        this.#answers.set(step.receiver, step.how)
        break
      case "stops":
        this.#stoppedUntil = this.now + step.lasts
        if (step.lasts > STALE_AFTER) this.#outage = { from: this.now, until: this.#stoppedUntil }
        break
      case "clock_back":
        this.#setClockBack(step.by)
    }
    if (step.step !== "report" && step.step !== "stops") this.#busy(plus(event, this.#passes))
  }

  /** Evaluates every incident, and sends what is pending, once all of an instant has happened. */
  flush({ at, slack }: Time = { at: this.now, slack: 0 }): void {
    const time = { at, slack: Math.max(slack, this.#passes) }
    for (const incident of this.open) this.#evaluate(incident, time)
    this.#passes = 0
    for (const incident of this.#incidents)
      for (const row of incident.rows) {
        if (row.state !== "pending" || !this.#receivers.includes(row.receiver)) continue
        if (row.event === "firing") this.#followParents(incident, row)
        if (row.event === "firing" && this.#holds(incident, row).length > 0) {
          for (const other of incident.rows)
            if (other.receiver === row.receiver && other.state === "held") other.state = "discarded"
          Object.assign(row, { state: "held", mayWait: true })
          incident.owedSince.set(row.receiver, row.due)
        } else {
          const late = [row.due, row.freed].find(({ at, slack }) => at === time.at && slack > time.slack)
          this.#attempt(incident, row, late ?? time)
        }
      }
  }

  // Members

  #join(key: string, id: string, member: Member, time: Time): void {
    const incident = this.open.find((one) => one.key === key) ?? this.#opened(key, time)
    const before = incident.members.get(id)
    incident.members.set(id, member)
    const isLoudEvent = member.loud && rank(member.status) > rank(before?.status)
    this.#changed(incident, isLoudEvent, time)
  }

  #leave(key: string, id: string, loud: boolean, time: Time): void {
    const incident = this.open.find((one) => one.key === key)
    if (incident?.members.has(id) !== true) return
    incident.members.delete(id)
    if (incident.members.size > 0) return this.#changed(incident, false, time)
    incident.isOpen = false
    for (const row of incident.rows)
      if (row.state === "held" || row.state === "pending") row.state = "discarded"
    if (!loud) return
    // That of a receiver that is gone waits for its return.
    const attempted = incident.rows.filter(({ state }) => ["sent", "retry"].includes(state))
    for (const receiver of new Set(attempted.map((row) => row.receiver)))
      incident.rows.push(this.#row(incident, receiver, "resolved", time))
  }

  #opened(key: string, time: Time): Incident {
    const earlierOnes = this.#incidents.filter((one) => one.key === key)
    const incident: Incident = {
      key,
      opening: earlierOnes.length + 1,
      openedAt: time.at,
      members: new Map(),
      rows: [],
      reached: new Map(),
      attempted: new Map(),
      owedSince: new Map(),
      overAck: new Set(),
      severity: "warning",
      announced: undefined,
      ack: undefined,
      isOpen: true,
    }
    this.#incidents.push(incident)
    return incident
  }

  #changed(incident: Incident, isLoudEvent: boolean, time: Time): void {
    const present = Array.from(incident.members.values(), ({ status }) => status)
    incident.severity = WORST_FIRST.find((severity) => present.includes(severity)) ?? "warning"
    if (isLoudEvent) {
      incident.announced = incident.severity
      if (!incident.reached.has(incident.severity)) incident.reached.set(incident.severity, time)
      if (incident.ack !== undefined && rank(incident.severity) > rank(incident.ack.severity)) {
        incident.ack = undefined
        for (const receiver of this.#named(incident).keys()) incident.overAck.add(receiver)
      }
    } else if (rank(incident.announced) > rank(incident.severity)) {
      incident.announced = incident.severity
      incident.reached.set(incident.severity, this.#reached(incident, incident.severity))
    }
    this.#evaluate(incident, time, { isLoud: isLoudEvent })
  }

  #loud({ members }: Incident): ReadonlyArray<Member> {
    return Array.from(members.values()).filter(({ loud }) => loud)
  }

  // Who is owed a firing, and when

  #openingsWithin({ key, openedAt }: Incident, seconds: number): number {
    const since = openedAt - seconds
    return this.#incidents.filter(
      (one) => one.key === key && one.openedAt > since && one.openedAt <= openedAt,
    ).length
  }

  #firstDelay(incident: Incident, { after, flapping }: Route): number {
    const flaps =
      flapping !== undefined &&
      this.#openingsWithin(incident, secondsOf(flapping.within)) >= flapping.openings
    return secondsOf(flaps ? flapping.after : after)
  }

  /** The least delay of each receiver if no member counts as worse than `most`. */
  #delays(incident: Incident, most: Severity) {
    const delays = new Map<string, Omit<Naming, "due">>()
    const name = (receiver: string, delay: number, isFirst: boolean, remind: number | undefined) => {
      const known = delays.get(receiver)
      const isLess = known === undefined || delay < known.delay || (delay === known.delay && isFirst)
      delays.set(receiver, {
        delay: isLess ? delay : known.delay,
        isEscalation: isLess ? !isFirst : known.isEscalation,
        isFirst: isFirst || known?.isFirst === true,
        remind: Math.min(remind ?? Infinity, known?.remind ?? Infinity),
      })
    }
    const worst = this.#loud(incident).toSorted((a, b) => rank(b.status) - rank(a.status))
    for (const member of worst.slice(0, MOST_MEMBERS)) {
      const severity = rank(member.status) > rank(most) ? most : member.status
      const fields = fieldsOf(incident.key, severity, member)
      const routes = (this.#policy.routes ?? []).filter(({ match }) => matches(fields, match))
      if (routes.length === 0) for (const receiver of this.#receivers) name(receiver, 0, true, undefined)
      for (const route of routes) {
        const first = this.#firstDelay(incident, route)
        const remind = route.remind === undefined ? undefined : secondsOf(route.remind)
        for (const [at, { after, to }] of (route.steps ?? [{ to: route.to ?? this.#receivers }]).entries())
          for (const receiver of to)
            name(receiver, at === 0 ? first : Math.max(first, secondsOf(after)), at === 0, remind)
      }
    }
    return delays
  }

  /** The receivers that the routes name, each with the earliest time at which it is due. */
  #named(incident: Incident): ReadonlyMap<string, Naming> {
    const named = new Map<string, Naming>()
    for (const [receiver, present] of this.#delays(incident, "critical")) {
      if (!this.#receivers.includes(receiver)) continue
      const candidates = Array.from(incident.reached.keys())
        .filter((severity) => rank(severity) <= rank(incident.announced))
        .flatMap((severity) => {
          const naming = this.#delays(incident, severity).get(receiver)
          return naming === undefined
            ? []
            : [{ ...naming, due: plus(this.#reached(incident, severity), naming.delay) }]
        })
      const [least] = candidates.toSorted(
        (a, b) => a.due.at - b.due.at || Number(b.isFirst) - Number(a.isFirst),
      )
      const { isEscalation, due, delay } = least ?? { ...present, due: { at: Infinity, slack: 0 } }
      named.set(receiver, { ...present, isEscalation, due, delay })
    }
    return named
  }

  /** When the incident was first announced at that severity or worse. */
  #reached({ reached }: Incident, severity: Severity): Time {
    return Array.from(reached)
      .filter(([other]) => rank(other) >= rank(severity))
      .map(([, time]) => time)
      .reduce(earlier)
  }

  // Evaluation

  /** The transaction of an event only writes what it makes owed. */
  #evaluate(incident: Incident, time: Time, event?: { readonly isLoud: boolean }): void {
    const named = this.#named(incident)
    const isHeard = this.#loud(incident).length > 0
    const hasRoutes = (this.#policy.routes ?? []).length > 0
    for (const receiver of this.#receivers) {
      const { attempted, overAck, owedSince, rows } = incident
      const ofReceiver = rows.filter((row) => row.receiver === receiver && row.event === "firing")
      const naming = named.get(receiver)
      const before = ofReceiver.find(({ state }) => state === "held")
      let row = before
      if (event === undefined && isHeard && naming === undefined) {
        if (row !== undefined && (row.reason !== undefined || overAck.has(receiver))) row.state = "discarded"
        if (row?.state === "discarded") row = undefined
        overAck.delete(receiver)
      }
      const knows = this.#knows(incident, receiver)
      const wasOwed = hasRoutes || event?.isLoud === true || row !== undefined || overAck.has(receiver)
      const isOwed =
        naming !== undefined && wasOwed && (overAck.has(receiver) || knows < rank(incident.announced))
      if (isOwed) {
        const since = owedSince.get(receiver) ?? time
        owedSince.set(receiver, since)
        const due = knows > 0 ? since : later(since, naming.due)
        if (row === undefined && (naming.isFirst || due.at <= this.now))
          rows.push((row = this.#row(incident, receiver, "firing", due)))
        if (row !== undefined && row.reason === undefined) row.due = due
        if (row !== undefined && knows === 0 && naming.delay > 0) row.mayWait = true
      } else if (row === undefined) owedSince.delete(receiver)
      if (event !== undefined) {
        const isDue = row !== before && (knows > 0 || naming?.delay === 0)
        if (row !== undefined && isDue && !this.#isAcknowledged(incident)) this.#free(incident, row, naming)
        continue
      }
      const last = attempted.get(receiver)
      const isSilent = !ofReceiver.some(({ state }) => state === "pending" || state === "retry")
      const mayRemind = isSilent && !isOwed && row?.reason === undefined && last !== undefined
      const reminder = mayRemind ? plus(last, naming?.remind ?? Infinity) : undefined
      if (reminder !== undefined && reminder.at <= this.now) {
        if (row === undefined) rows.push((row = this.#row(incident, receiver, "firing", reminder)))
        Object.assign(row, { reason: "reminder", due: reminder, mayWait: true })
      }
      if (row !== undefined) this.#settle(incident, row, isOwed, naming)
    }
  }

  /** Makes a held row pending if nothing holds it any more. */
  #settle(incident: Incident, row: Row, isOwed: boolean, naming: Naming | undefined): void {
    const hadParents = row.hasParents
    this.#followParents(incident, row)
    // The pass after a change of a parent.
    if (hadParents && !row.hasParents && row.due.at <= this.now) row.freed = { at: this.now, slack: LATENESS }
    const isFree =
      row.due.at <= this.now &&
      (isOwed || row.reason !== undefined) &&
      this.#holds(incident, row).length === 0
    const { from, until } = this.#outage
    if (isFree && row.mayWait && !row.waited && this.now >= from && this.now < until + SETTLING)
      Object.assign(row, { waited: true, waitsUntil: until + SETTLING })
    if (!isFree || this.now < row.waitsUntil) row.mayWait = true
    else this.#free(incident, row, naming)
  }

  #free(incident: Incident, row: Row, naming: Naming | undefined): void {
    const ofRule = naming?.isEscalation === true ? "escalation" : "opened"
    row.cause = row.reason ?? (this.#knows(incident, row.receiver) > 0 ? "worsened" : ofRule)
    Object.assign(row, { state: "pending", severity: incident.severity })
    incident.overAck.delete(row.receiver)
    incident.owedSince.delete(row.receiver)
  }

  #isAcknowledged({ ack, announced }: Incident): boolean {
    return ack !== undefined && this.now < ack.until && rank(announced) <= rank(ack.severity)
  }

  /** The holds of a row besides its own time. */
  #holds(incident: Incident, row: Row): ReadonlyArray<string> {
    if (row.state !== "held" && row.state !== "pending") return []
    const loud = this.#loud(incident)
    // Only a row that is held already stays so while all members are silent.
    if (loud.length === 0 && row.state === "held") return ["notifications_off"]
    const mutes = [
      ...this.#silences.filter(({ from, until }) => from <= this.now && this.now < until),
      ...(this.#policy.windows ?? []).filter((window) => this.#within(window).isIn),
    ]
    // In an incident about an agent, the agent takes the members' place.
    const isOfAgent = incident.key.includes("/@")
    const isMuted =
      loud.length > 0 &&
      loud
        .map((member) => (isOfAgent ? { ...member, check: undefined } : member))
        .every((member) =>
          mutes.some(({ match }) => matches(fieldsOf(incident.key, incident.severity, member), match)),
        )
    const isExplained = row.hasParents || this.now < row.graceUntil.at
    return [
      ...(isMuted ? ["mute"] : []),
      ...(this.#isAcknowledged(incident) ? ["ack"] : []),
      ...(isExplained ? ["parent"] : []),
    ]
  }

  // Dependencies

  /** The facts of its loud members, or of the agent that it is about. */
  #factsOf(incident: Incident): ReadonlyArray<ReadonlyMap<string, string>> {
    const isOfAgent = incident.key.includes("/@")
    return this.#loud(incident).map((member) =>
      fieldsOf(incident.key, incident.severity, isOfAgent ? { ...member, check: undefined } : member),
    )
  }

  /** Everything that may be a parent of others: announced incidents, and agents that are stale. */
  get #possibleParents() {
    const stale = Array.from(this.#agents).filter(
      ([agent, { seen, silent }]) =>
        silent && this.now - seen >= STALE_AFTER && !this.#isMember(`${agent}/@heartbeat`, agent),
    )
    return [
      ...this.open.flatMap((incident) => {
        const { announced: severity } = incident
        return severity === undefined
          ? []
          : [{ incident, severity, isStale: false, facts: this.#factsOf(incident) }]
      }),
      ...stale.map(([agent]) => {
        const member = { agent, check: undefined, status: "critical", loud: true } as const
        const facts = [fieldsOf(`${agent}/@heartbeat`, "critical", member)]
        return { incident: undefined, severity: "critical", isStale: true, facts } as const
      }),
    ]
  }

  #parents(incident: Incident) {
    const own = this.#factsOf(incident)
    const covers = (match: ReadonlyArray<string>, facts: typeof own) =>
      facts.length > 0 && facts.every((each) => matches(each, match))
    const rules = this.#policy.dependencies ?? []
    const first = rules.findIndex(({ parent }) => covers(parent, own))
    const found = { isPresent: false, hold: false, grace: 0 }
    for (const { child, equal, grace, parent } of rules.slice(0, first < 0 ? rules.length : first)) {
      const valuesOf = (facts: ReadonlyMap<string, string>) => equal.map((field) => facts.get(field) ?? "")
      if (!covers(child, own) || own.some((facts) => valuesOf(facts).includes(""))) continue
      const takesStale = parent.some((text) => /^incident_key (?:=|glob) .*\/@heartbeat$/u.test(text))
      const parents = this.#possibleParents.filter(
        (one) => one.incident !== incident && covers(parent, one.facts) && (takesStale || !one.isStale),
      )
      const eachHas = (least: number) =>
        own.every((facts) =>
          parents.some(
            (one) =>
              rank(one.severity) >= least &&
              one.facts.some((others) => valuesOf(others).join() === valuesOf(facts).join()),
          ),
        )
      found.isPresent ||= eachHas(0)
      found.hold ||= eachHas(rank(incident.announced ?? incident.severity))
      found.grace = Math.max(found.grace, secondsOf(grace))
    }
    return found
  }

  /** Finds whether parents hold a row that is not sent yet, and keeps when they ended. */
  #followParents(incident: Incident, row: Row): void {
    const { grace, hold, isPresent } = this.#parents(incident)
    if (isPresent) row.parentEnded = undefined
    else if (row.hasParents && row.parentEnded === undefined) {
      row.parentEnded = { at: this.now, slack: LATENESS }
      row.firstParentEnded = Math.min(row.firstParentEnded, this.now)
    }
    const { parentEnded } = row
    const recovers = row.hasParents && parentEnded !== undefined && this.now < parentEnded.at + RECOVERY
    const isBounded = this.now < row.firstParentEnded + LONGEST
    row.hasParents = isBounded && (isPresent ? hold : recovers)
    const from = row.reason === undefined ? later(row.written, row.due) : row.written
    row.graceUntil = hold ? from : plus(from, grace)
  }

  #knows({ rows }: Incident, receiver: string): number {
    const known = rows.filter(
      (row) =>
        row.receiver === receiver &&
        row.event === "firing" &&
        row.state !== "held" &&
        row.state !== "discarded",
    )
    return Math.max(0, ...known.map(({ severity }) => rank(severity)))
  }

  #row({ severity }: Incident, receiver: string, event: Row["event"], due: Time): Row {
    const state = event === "firing" ? "held" : "pending"
    const nothing = { reason: undefined, cause: undefined, mayWait: false, waited: false, waitsUntil: 0 }
    const free = { hasParents: false, parentEnded: undefined, firstParentEnded: Infinity }
    const written = { at: this.now, slack: due.at === this.now ? due.slack : 0 }
    const times = { due, written, freed: written, graceUntil: written }
    return { receiver, event, state, severity, ...times, ...nothing, ...free }
  }

  #attempt(incident: Incident, row: Row, { at, slack }: Time): void {
    const { rows, key, opening } = incident
    const before = rows.slice(0, rows.indexOf(row)).filter(({ receiver }) => receiver === row.receiver)
    if (before.some(({ state }) => state === "retry") || !this.#receivers.includes(row.receiver)) return
    const start = at < this.#stoppedUntil ? { at: this.#stoppedUntil, slack: 0 } : { at, slack }
    const answer = this.#answers.get(row.receiver)
    const done = { at: start.at, slack: start.slack + LATENESS }
    this.busyUntil = Math.max(this.busyUntil, done.at + done.slack)
    if (row.event === "firing") incident.attempted.set(row.receiver, done)
    else if (!before.some(({ state }) => state === "sent")) row.state = "discarded"
    if (row.state === "discarded") return
    if (answer === "is_down") Object.assign(row, { state: "retry", due: plus(done, RETRY_AFTER) })
    else if (answer === "refuses") row.state = "failed"
    else {
      row.state = "sent"
      const { cause, event, receiver, severity } = row
      const interval = { from: start.at, to: done.at + done.slack }
      this.messages.push({ receiver, key, opening, event, cause, severity, ...interval })
    }
  }

  // Time

  #next(): Time | undefined {
    const exact = (at: number): Time => ({ at, slack: 0 })
    const times = [
      ...this.#silences.flatMap(({ from, until }) => [exact(from), exact(until)]),
      ...(this.#policy.windows ?? []).map((window) => exact(this.now + this.#within(window).edge)),
      ...Array.from(this.#agents.keys(), (agent) => this.#deadAt(agent)),
      ...Array.from(this.#agents.values(), ({ seen, silent }) =>
        exact(silent ? seen + STALE_AFTER : Infinity),
      ),
      ...Array.from(this.#checks.keys(), (check) => this.#overdueAt(check)),
      ...this.#incidents.flatMap(({ rows }) =>
        rows.filter(({ state }) => state === "retry").map(({ due }) => due),
      ),
    ]
    for (const incident of this.open) {
      if (incident.ack !== undefined) times.push(exact(incident.ack.until))
      for (const { due, firstParentEnded, graceUntil, parentEnded, state, waitsUntil } of incident.rows)
        if (state === "held") {
          times.push(due, graceUntil, exact(waitsUntil), { at: firstParentEnded + LONGEST, slack: LATENESS })
          if (parentEnded !== undefined) times.push(plus(parentEnded, RECOVERY))
        }
      for (const [receiver, { due, remind = Infinity }] of this.#named(incident)) {
        if (incident.owedSince.has(receiver)) times.push(due)
        const last = incident.attempted.get(receiver)
        if (last !== undefined) times.push(plus(last, remind))
      }
    }
    return times.filter(({ at }) => at > this.now && at < Infinity).toSorted((a, b) => a.at - b.at)[0]
  }

  #wake(time: Time): void {
    for (const agent of this.#agents.keys())
      if (this.#deadAt(agent).at === this.now)
        this.#join(
          `${agent}/@heartbeat`,
          agent,
          { agent, check: undefined, status: "critical", loud: true },
          time,
        )
    for (const [id, check] of this.#checks) {
      const [agent = "", name] = id.split("/")
      if (this.#overdueAt(id).at === this.now && check.overdue !== undefined)
        this.#join(`${agent}/@overdue`, id, { agent, check: name, status: "unknown", loud: true }, time)
    }
    for (const incident of this.#incidents)
      for (const row of incident.rows)
        if (row.state === "retry" && row.due.at <= this.now) {
          row.state = "pending"
          this.#attempt(incident, row, time)
        }
    for (const incident of this.open) {
      if (incident.ack !== undefined && incident.ack.until <= this.now) this.#expire(incident, time)
    }
    this.flush(time)
  }

  /** An acknowledgement ran out. */
  #expire(incident: Incident, time: Time): void {
    incident.ack = undefined
    if (this.#loud(incident).length === 0) return
    for (const receiver of this.#named(incident).keys()) {
      let row = incident.rows.find((one) => one.receiver === receiver && one.state === "held")
      if (row === undefined && this.#knows(incident, receiver) === 0) continue
      if (row === undefined) incident.rows.push((row = this.#row(incident, receiver, "firing", time)))
      Object.assign(row, { reason: "ack_ran_out", due: time, mayWait: true })
    }
  }

  #pick(which: number): Incident | undefined {
    return this.open.toSorted((a, b) => (a.key < b.key ? -1 : 1))[which % this.open.length]
  }

  #busy({ at, slack }: Time): void {
    this.busyUntil = Math.max(this.busyUntil, at + slack + LATENESS)
  }

  #agent(agent: string) {
    const known = this.#agents.get(agent) ?? { seen: 0, since: 0, silent: false }
    this.#agents.set(agent, known)
    return known
  }

  #contact(agent: string): void {
    const known = this.#agent(agent)
    if (known.silent && this.now - known.seen >= STALE_AFTER) known.since = this.now
    known.seen = this.now
    this.#leave(`${agent}/@heartbeat`, agent, true, { at: this.now, slack: 0 })
  }

  #isMember(key: string, id: string): boolean {
    return this.open.some((one) => one.key === key && one.members.has(id))
  }

  #deadAt(agent: string): Time {
    const { seen, silent } = this.#agent(agent)
    const isKnown = !silent || this.#isMember(`${agent}/@heartbeat`, agent)
    const since = Math.max(seen, this.#outage.until)
    return { at: isKnown ? Infinity : since + DEAD_AFTER, slack: LATENESS }
  }

  #overdueAt(id: string): Time {
    const [agent = ""] = id.split("/")
    const { seen, silent, since } = this.#agent(agent)
    const { at = 0, overdue = Infinity } = this.#checks.get(id) ?? {}
    const due = Math.max(at, since, this.#outage.until) + overdue
    const isKnown = this.#isMember(`${agent}/@overdue`, id) || (silent && seen < at + overdue)
    // The agent's next heartbeat comes within a minute.
    return { at: isKnown ? Infinity : due, slack: 60 + LATENESS }
  }

  /** The seconds since the start of a window's present period, and until its next edge. */
  #within({ cron, for: lasts }: Window) {
    const period = Number(/\d+/u.exec(cron)?.[0]) * 60
    // The minutes of every hour begin the periods.
    const passed = ((this.#epoch + this.now - this.#setBack) % 3_600) % period
    const left = Math.min(period - passed, 3_600 - ((this.#epoch + this.now - this.#setBack) % 3_600))
    return {
      isIn: passed < secondsOf(lasts),
      edge: passed < secondsOf(lasts) ? secondsOf(lasts) - passed : left,
    }
  }

  /** Past times count as of now at the latest; times that people set end when they say. */
  #setClockBack(by: number): void {
    const past = (time: number) => Math.min(time + by, this.now)
    this.#setBack += by
    for (const agent of this.#agents.values())
      Object.assign(agent, { seen: past(agent.seen), since: past(agent.since) })
    for (const check of this.#checks.values()) check.at = past(check.at)
    for (const silence of this.#silences)
      Object.assign(silence, { from: silence.from + by, until: silence.until + by })
    this.#outage = { from: past(this.#outage.from), until: past(this.#outage.until) }
    for (const incident of this.#incidents) {
      incident.openedAt = past(incident.openedAt)
      if (incident.ack !== undefined) incident.ack.until += by
      for (const row of incident.rows) {
        if (row.waitsUntil > this.now) row.waitsUntil += by
        const { firstParentEnded, parentEnded, written } = row
        row.firstParentEnded = firstParentEnded < Infinity ? past(firstParentEnded) : Infinity
        if (parentEnded !== undefined) row.parentEnded = { ...parentEnded, at: past(parentEnded.at) }
        row.written = { ...written, at: past(written.at) }
      }
      for (const times of [incident.reached, incident.attempted, incident.owedSince] as const)
        for (const [name, time] of times)
          (times as Map<string, Time>).set(name, { ...time, at: past(time.at) })
    }
  }
}
