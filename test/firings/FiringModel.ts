import { isDeepStrictEqual } from "node:util"
import { clamp, Incident, type Reach, type Row } from "./IncidentModel.ts"
import { LATENESS, type Member, MemberModel } from "./MemberModel.ts"
import * as Naming from "./NamingModel.ts"
import { handoverOf } from "./HandoverModel.ts"
import { nameIn } from "./nameIn.ts"
import { adding, AGAIN_AFTER, beginAnew, distinct, fall, forget, page, pageAt } from "./EpisodeModel.ts"
import { type Episodes, IN_FORCE } from "./inForce.ts"
import { lateOf, laterOf, momentOf } from "./moments.ts"
import type { Ended } from "./RotaModel.ts"
import { RotasInForce } from "./RotasInForce.ts"
import { severityOf, STALE_AFTER, TICK } from "./Story.ts"
import type { Attempted, Cause, Happening, How, Message, OnCall, Story, Traced } from "./Story.ts"

/** How long after an outage agents may report, and when a retry is due. */
const [SETTLING, RETRY_AFTER] = [120, 3_600]
/** How long a child waits for its recovery, and how long parents hold it from the first end on. */
const [RECOVERY, LONGEST] = [120, 600]
/** How long a receiver has been in retry when it is out of reach, and how old a firing is that is owed again. */
const [OUT_OF_REACH, OLDEST] = [300, 86_400]
/** The states of rows by the answers to their attempts. */
const ANSWERED = {
  accepts: "sent",
  defers: "retry",
  is_down: "retry",
  loses: "retry",
  refuses: "failed",
} as const
/** The steps that a pass follows. */
const PASSES = ["tests", "silence", "expire", "policy", "override", "end_override", "clock_back"]

/**
 * Which messages a story leads to, by docs/rules.md alone. It shares nothing with the core: every ten seconds it
 * looks at everything. Times are those of the service's clock; `late` is how much later something may be.
 */
export class FiringModel {
  readonly messages: Array<Message> = []
  /** All attempts, also those that failed. */
  readonly attempts: Array<Attempted> = []
  /** How incidents changed. */
  readonly trace: Array<Traced> = []
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
  /** The last stop, however short. */
  readonly #stopped = { from: 0, to: 0 }
  /** When the policy came into force. */
  readonly #since = { policy: 0 }
  readonly #incidents: Array<Incident> = []
  readonly #silences: Array<{ match: ReadonlyArray<string>; from: number; until: number }> = []
  readonly #rotas: RotasInForce
  readonly #answers = new Map<string, How>()
  readonly #members: MemberModel
  /** The rows that were attempted at this instant. */
  readonly #claimed = new Set<Row>()
  /** How late an attempt of this instant may be that changed who is on call. */
  #refusedWithin = 0
  /** How the routes name receivers, until something happens. */
  readonly #namings = new Map<Reach, ReturnType<typeof nameIn>>()

  readonly #on: Episodes

  constructor(story: Story, on: Episodes = IN_FORCE) {
    this.#on = on
    this.#now = this.#epoch = Date.parse(story.begins) / 1_000
    this.#rules = story
    this.#members = new MemberModel(this.#now, (...move) => this.#move(...move))
    this.#rotas = new RotasInForce(story, this.#now)
  }

  get now(): number {
    return this.#now - this.#epoch
  }

  /** A service that starts and stops in one instant may not notice that it started. */
  get isStopped(): boolean {
    return this.now <= this.#stoppedUntil
  }

  /** Whether a pass or a claim is to come that would hold a row, or notice that a hold ended: a stop of the same instant may overtake it. */
  get isUndecided(): boolean {
    const begins = this.#open.some(({ began }) => Math.ceil(began) === this.#now && lateOf(began) > 0)
    return this.#late > 0 || begins || this.#pending().some((one) => this.#isHeld(...one))
  }

  get #open(): ReadonlyArray<Incident> {
    return this.#incidents.filter(({ isOpen }) => isOpen)
  }

  /** Who is on call, and due, for each open incident that is announced and not acknowledged. */
  onCall(): ReadonlyArray<OnCall> {
    const known = this.#open.filter(
      ({ announced, isAcknowledged, loud }) => announced > 0 && !isAcknowledged && loud.length > 0,
    )
    return known.flatMap((incident) => {
      const opening = this.#openingOf(incident)
      const due = this.#rules.receivers.filter((receiver) => {
        const { due: at, rotas } = this.#naming(incident, receiver)
        const came = rotas.map((rota) => incident.onCall.stays.get(rota)?.get(receiver)?.cameAt ?? 0)
        // One is notified within a minute of what changed last.
        return rotas.length > 0 && Math.max(at, incident.openedAt, ...came) < this.#now - 60
      })
      return due.map((receiver) => {
        const stays = Array.from(incident.onCall.stays.values(), (all) => all.get(receiver)).filter(Boolean)
        const isBeside = stays.every((stay) => stay?.isBeside)
        return { key: incident.key, opening, receiver, isBeside }
      })
    })
  }

  #openingOf(incident: Incident): number {
    return this.#incidents.filter(({ key }) => key === incident.key).indexOf(incident) + 1
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
      this.#followRotas()
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
      this.#members.contact(step.agent, this.#members.agents.get(step.agent)?.isSilent === true, now)
      for (const result of step.results) this.#members.report(step.agent, result, now)
    } else if (step.step === "falls_silent" || step.step === "returns")
      this.#members.contact(step.agent, step.step === "falls_silent", now)
    else if (step.step === "expect") this.#members.expect(step, now)
    else if (step.step === "acknowledge" || step.step === "withdraw") {
      const incident = this.pick(step.which)
      if (incident !== undefined && "lasts" in step)
        incident.ack = { rank: incident.rank, until: now + step.lasts }
      else if (incident?.ack !== undefined) this.#endAck(incident)
    } else if (step.step === "silence")
      this.#silences.push({ match: step.match, from: now, until: now + step.lasts })
    else if (step.step === "expire") {
      const silence = this.#silences[step.which % this.#silences.length]
      if (silence !== undefined) silence.until = Math.min(silence.until, now)
    } else if (step.step === "policy") this.#rules = step
    else if (step.step === "override" || step.step === "end_override")
      this.#rotas.override(step, this.#rules, now)
    else if (step.step === "answers") this.#answers.set(step.receiver, step.how)
    else if (step.step === "tests") this.#test(step.receiver)
    else if (step.step === "stops") {
      this.#stoppedUntil = this.now + step.lasts
      Object.assign(this.#stopped, { from: now, to: now + step.lasts })
      if (step.lasts > STALE_AFTER) Object.assign(this.#outage, { from: now, to: now + step.lasts })
    } else if (step.step === "clock_back") {
      this.#now -= step.by
      this.#epoch -= step.by
      for (const { reaches } of this.#incidents)
        for (const reach of reaches.values()) beginAnew(reach, this.#now)
      clamp([this.#incidents, this.#members, this.#outage, this.#since], this.#moment(LATENESS))
    }
    if (step.step === "policy" || step.step === "clock_back")
      this.#rotas.repeat(this.#rules, this.#open, this.#now)
    this.#followRotas()
    if (step.step === "policy") this.#since.policy = this.#now
  }

  /** Follows who is on call, also while the service is stopped. */
  #followRotas(): void {
    if (this.#rotas.follow(this.#rules, this.#open, this.#now)) this.#namings.clear()
  }

  /** Evaluates every incident, and claims what is pending, once all of an instant has happened. */
  flush(): void {
    if (this.now < this.#stoppedUntil) return
    this.#members.miss(this.#now, this.#outage.to)
    this.#claimed.clear()
    do {
      this.#late = Math.max(this.#late, this.#refusedWithin)
      this.#refusedWithin = 0
      for (const incident of this.#open) {
        this.#forget(incident)
        this.#followHolds(incident)
        this.#note(incident)
        for (const receiver of this.#rules.receivers) this.#evaluate(incident, receiver)
        incident.ackEnded = 0
      }
      for (const one of this.#pending()) this.#claim(...one)
      // A receiver beside one that refused is owed a firing.
    } while (this.#refusedWithin > 0)
    this.#late = 0
  }

  /** Ends mutes and acknowledgements, and has retries pending that are due. */
  #passTime(): void {
    const [now, { policy, receivers }] = [this.#now, this.#rules]
    const quiet = receivers.map((receiver) => Naming.quietBelow(policy, receiver, now))
    const onCall = Array.from(this.#rotas.places)
    const circumstances = JSON.stringify([this.#mutes(now), quiet, this.#members.staleAt(now), onCall])
    if (!["", circumstances].includes(this.#circumstances)) this.#happens()
    this.#circumstances = circumstances
    const all = this.#incidents.flatMap((incident) =>
      Array.from(incident.reaches).flatMap(([receiver, { rows }]) =>
        rows.map((row) => ({ incident, receiver, row })),
      ),
    )
    for (const { incident, receiver, row } of all) {
      const due = (row.attempted ?? 0) + RETRY_AFTER
      if (row.state === "retry" && due <= now && !this.#isQuieted(incident))
        Object.assign(row, { state: "pending", due })
      const isLost = row.state === "retry" && (row.retriedSince ?? now) + OUT_OF_REACH <= now
      if (!this.#on.reach || !isLost || row.isLost === true || incident.isAcknowledged) continue
      row.isLost = true
      this.#follow(incident, receiver, "out_of_reach", LATENESS)
    }
    for (const incident of this.#open.filter(({ ack }) => ack !== undefined && ack.until <= now)) {
      for (const reach of incident.reaches.values()) this.#holdWaiting(reach)
      this.#endAck(incident)
      incident.ackEnded = now
      this.#happens()
    }
  }

  // Members of incidents

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
    if (known === undefined) {
      this.#incidents.push(incident)
      incident.onCall.follow(this.#rotas.places, undefined)
    }
    incident.members.set(id, member)
    this.#changed(incident, loud && rank > before, late)
  }

  /** A resolved follows where a firing was attempted and not refused; nothing holds it. */
  #close(incident: Incident, isLoud: boolean): void {
    this.#happens()
    // Rows that an acknowledgement holds end with the incident.
    const held = Array.from(incident.reaches.values(), ({ rows }) => rows).flat()
    if (this.#isQuieted(incident))
      for (const row of held.filter(({ state }) => state === "retry")) row.state = "discarded"
    incident.isOpen = false
    incident.changes += 1
    this.#note(incident)
    for (const reach of incident.reaches.values()) {
      const rows = reach.rows.filter(({ state }) => state !== "pending")
      const follows = isLoud && rows.some(({ state }) => state !== "failed")
      const resolved = follows ? [this.#row(incident, { event: "resolved" })] : []
      if (follows) this.#hasten(reach)
      Object.assign(reach, { held: undefined, rows: [...rows, ...resolved] })
    }
  }

  /** A loud event sets what is announced; an improvement lowers it; a silent worsening leaves it. */
  #changed(incident: Incident, isLoud: boolean, late = 0): void {
    const { announced: before, reached } = incident
    this.#forget(incident)
    const rank = Math.max(...Array.from(incident.members.values(), (member) => member.rank))
    incident.rank = rank
    incident.changes += 1
    this.#late = Math.max(this.#late, late)
    this.#happens(late)
    if (isLoud) reached[rank] ??= Math.min(this.#moment(late), incident.reachedAt(rank))
    else if (incident.announced > rank) reached[rank] = incident.reachedAt(rank)
    incident.announced = isLoud ? rank : Math.min(incident.announced, rank)
    fall(incident, before, this.#moment(late))
    // A loud event above the acknowledged severity ends the acknowledgement.
    const endsAck = isLoud && rank > (incident.ack?.rank ?? 3)
    if (endsAck) this.#endAck(incident, late)
    for (const receiver of this.#rules.receivers) {
      const [reach, { delay, isFirst, isNamed }] = [
        incident.reach(receiver),
        this.#naming(incident, receiver),
      ]
      if (endsAck) reach.again = isNamed && (isFirst || !this.#on.begins)
      const { held: before, knows } = reach
      this.#owe(incident, receiver, { isLoud, late })
      const { held } = reach
      if (held === undefined || held === before) continue
      // A row that is due at its own event is free, unless something holds it then.
      const isHeld = this.#isHeld(incident, receiver, held)
      if (isHeld || (knows === 0 && delay > 0)) held.mayWait ||= isHeld
      else this.#free(incident, receiver, held)
    }
    this.#followHolds(incident)
    this.#note(incident)
  }

  // Episodes

  /** Notes how an incident is, where that changed. */
  #note(incident: Incident): void {
    const { ack, announced, isOpen, key } = incident
    const [opening, held] = [this.#openingOf(incident), this.#isMuted(incident)]
    const now = { at: this.now, key, opening, announced, isOpen, ackRank: ack?.rank ?? 0, isMuted: held }
    const last = this.trace.findLast((one) => one.key === key && one.opening === opening)
    if (!isDeepStrictEqual({ ...last, at: this.now }, now)) this.trace.push(now)
  }

  #forget(incident: Incident): void {
    const againAfter = this.#rules.policy.again_after ?? AGAIN_AFTER
    if (this.#on.forgets && forget(incident, againAfter, this.#now)) this.#races()
  }

  /** Steps begin anew. A row of a later step that waits becomes due with it. */
  #begin(incident: Incident, at: number): void {
    if (!this.#on.begins) return
    incident.began = laterOf(incident.began, at)
    this.#namings.clear()
  }

  /** An acknowledgement ends, however. What was attempted is not sent again: a row takes its place. */
  #endAck(incident: Incident, late = LATENESS): void {
    const until = incident.ack?.until ?? this.#now
    incident.ack = undefined
    this.#begin(incident, until < this.#now ? until : this.#moment(late))
    if (!this.#on.quiets) return
    for (const [receiver, reach] of incident.reaches) {
      const { isFirst, isNamed, rotas } = this.#naming(incident, receiver)
      const stays = rotas.map((rota) => incident.onCall.stays.get(rota)?.get(receiver))
      const isOnCall = stays.some((stay) => stay?.cameAt !== undefined)
      const retries = reach.rows.filter(({ state }) => state === "retry")
      if (retries.length > 0) this.#holdWaiting(reach)
      for (const row of retries) {
        // An attempt could be under way.
        if (this.#now - (row.attempted ?? 0) <= 3 * LATENESS) this.#races()
        row.state = "discarded"
        const keeps = row.byTime ?? (row.cause === "handover" && isOnCall ? row.cause : undefined)
        const { isRepair = false } = row
        if (keeps !== undefined && isNamed)
          reach.held ??= { ...this.#row(incident, {}), byTime: keeps, isRepair }
        else if (isFirst) reach.held ??= this.#row(incident, {})
        // One that is sent whatever its receiver knows still is, unless another one is on its way.
        const isForced = row.isAgain === true && (row.cause === "opened" || row.cause === "worsened")
        reach.again ||= isForced && isFirst && reach.rows.every(({ state }) => state !== "pending")
      }
    }
  }

  /** An acknowledgement also holds what waits behind a retry, and was never attempted: the last of it is sent after it. */
  #holdWaiting(reach: Reach): void {
    const waiting = reach.rows.filter(
      ({ attempted, event, state }) => event === "firing" && state === "pending" && attempted === undefined,
    )
    const last = waiting.at(-1)
    if (last === undefined) return
    const rows = reach.rows.filter((row) => !waiting.includes(row))
    Object.assign(reach, { held: { ...last, mayWait: true }, rows, owedSince: last.due })
  }

  /** Whether an acknowledgement holds the retries of an incident. */
  #isQuieted(incident: Incident): boolean {
    return this.#on.quiets && incident.isOpen && incident.isAcknowledged
  }

  /** Notes when a hold of an incident ends under which something was due. */
  #followHolds(incident: Incident): void {
    if (!this.#on.begins) return
    const now = this.#now
    const reaches = this.#rules.receivers.map((receiver) => [receiver, incident.reach(receiver)] as const)
    const isDue = reaches.some(
      ([, { held }]) => held !== undefined && held.isOwed !== false && Math.ceil(held.due) <= now,
    )
    const isStepDue = reaches.some(([receiver, reach]) => {
      const isNamed = this.#on.pages && this.#naming(incident, receiver).isNamed
      const next = isNamed ? pageAt(reach, this.#paging(incident, receiver)) : Infinity
      return Math.ceil(next) <= now
    })
    const wasDue = incident.muted === "due"
    if (this.#isMuted(incident)) {
      if (!wasDue && !isDue && isStepDue) incident.stepMutedAt = now
      incident.muted = wasDue || isDue || isStepDue ? "due" : "yes"
    } else {
      // A silence of one instant may not be noticed where only a step is due.
      if (wasDue && incident.stepMutedAt === now) this.#races()
      incident.muted = "no"
      const ended = this.#unmutedAt(incident)
      const late = Math.max(this.#late, LATENESS)
      if (wasDue) this.#begin(incident, ended < this.#now ? ended : this.#moment(late))
    }
    const settled = this.#outage.to + SETTLING
    for (const [receiver, { held }] of reaches) {
      if (held === undefined) continue
      const isUnder = this.#hasParents(incident, held) && held.parents.length > 0
      // The last hold of one ended soon after an outage: it waits for that, also where its step begins again meanwhile.
      const hasEnded = (wasDue && incident.muted === "no") || (held.isUnder === true && !isUnder)
      const isFreed = hasEnded && Math.ceil(held.due) <= now && !this.#isHeld(incident, receiver, held)
      if (isFreed && this.#outage.from <= now && now < settled) {
        held.waitsUntil ??= settled
        held.isUnder = true
      }
      const isOfOutage = held.waitsUntil !== undefined && now < held.waitsUntil
      // One of an outage ends when it was to, also in another outage.
      const ended = held.waitsUntil ?? this.#moment(LATENESS)
      if (held.isUnder === true && !isUnder && !isOfOutage) this.#begin(incident, Math.min(ended, now))
      held.isUnder = (isUnder || isOfOutage) && (held.isUnder === true || Math.ceil(held.due) <= now)
    }
  }

  /** Somebody tests a receiver. */
  #test(receiver: string): void {
    const answer = this.#answers.get(receiver) ?? "accepts"
    if (answer === "accepts") this.#repair(receiver, false)
  }

  /** A receiver works: the last firing of each incident that it refused is owed again. */
  #repair(receiver: string, byAttempt: boolean): void {
    if (!this.#on.repairs) return
    for (const incident of this.#open) {
      const reach = incident.reach(receiver)
      const firings = reach.rows.filter(({ event }) => event === "firing")
      const at = firings.findLastIndex(({ state }) => state === "failed")
      const last = firings[at]
      if (last === undefined || firings.slice(at).some(({ state }) => state === "sent")) continue
      if (byAttempt && last.isRepair === true) continue
      if (!this.#naming(incident, receiver).isNamed || this.#now - last.written > OLDEST) continue
      if (firings.slice(at + 1).length > 0) this.#races()
      const byTime = last.cause ?? "opened"
      reach.held ??= { ...this.#row(incident, {}), byTime, isRepair: byAttempt || last.isRepair === true }
      this.#refusedWithin = Math.max(this.#refusedWithin, LATENESS)
    }
  }

  // Who is owed a firing, and when

  #naming(incident: Incident, receiver: string) {
    const reach = incident.reach(receiver)
    const naming = this.#namings.get(reach) ?? nameIn(this.#rules, incident, receiver, this.#incidents)
    this.#namings.set(reach, naming)
    return naming
  }

  /**
   * Whether a receiver is owed a firing; then a first step writes it, and a later one when it is due. An event leaves
   * what only later steps name to the evaluation, also what is due.
   */
  #owe(incident: Incident, receiver: string, { comes = false, isLoud, late }: Owing): boolean {
    const [reach, naming] = [incident.reach(receiver), this.#naming(incident, receiver)]
    const isEvaluated = isLoud === undefined
    const { again, held, knows } = reach
    // Without routes and rotas, only a loud event makes a receiver owed.
    const { rotas, routes } = this.#rules.policy
    const mayBe = (routes ?? rotas) !== undefined || isLoud === true || held !== undefined
    const isWorse = again || (mayBe && knows < incident.announced)
    const isMissing = comes || isWorse
    // A reminder that waits gives way to a worsening.
    if (held?.byTime === "reminder" && isWorse && naming.isNamed && naming.isFirst) delete held.byTime
    // A step pages also one that knows less, and learns of a worsening later.
    const isTold = isMissing && (knows === 0 || again || comes || naming.isFirst)
    const paging = isEvaluated && !isTold ? this.#pageOf(incident, receiver) : Infinity
    if (!naming.isNamed || !(isMissing || Math.ceil(paging) <= this.#now)) {
      if (held === undefined) reach.owedSince = undefined
      else held.isOwed = held.byTime !== undefined
      if (held?.isOwed === false) this.#awaitAnother(held)
      return false
    }
    reach.owedSince ??= this.#moment(late)
    const isLater = this.#on.begins && !naming.isFirst
    const learns = isMissing ? this.#dueOf(incident, receiver, comes) : Infinity
    const due = laterOf(reach.owedSince, Math.min(learns, paging))
    // One that a milder severity makes due by a first step is of that.
    const isFirst = naming.isFirst || (knows === 0 && !naming.isLater)
    if (isFirst || ((isEvaluated || (knows > 0 && !isLater)) && due <= this.#now))
      reach.held ??= this.#row(incident, { due })
    if (reach.held === undefined) return true
    reach.held.isOwed = true
    if (reach.held.byTime === undefined) reach.held.due = due
    if (reach.held.byTime === undefined && Math.ceil(due) > this.#now) this.#awaitAnother(reach.held)
    reach.held.mayWait ||= comes || !isMissing || (knows === 0 ? naming.delay > 0 : isLater)
    return true
  }

  /** A row that waited after an outage, and is due at another moment, may wait again. */
  #awaitAnother(held: Row): void {
    if ((held.waitsUntil ?? Infinity) <= this.#now) delete held.waitsUntil
  }

  /** When a receiver is due that knows less than is announced, or is owed a firing whatever it knows. */
  #dueOf(incident: Incident, receiver: string, comes: boolean): number {
    const [{ again, knows }, naming] = [incident.reach(receiver), this.#naming(incident, receiver)]
    if (knows === 0) return naming.due
    if (again || comes || naming.isFirst || !this.#on.begins) return 0
    // Whom only later steps name learns of a worsening after their delays.
    return Math.min(...naming.later.flatMap(({ due, rank }) => (rank > knows ? due : [])))
  }

  /** The later steps of a receiver whose moment has not passed before the policy came into force. */
  #paging(incident: Incident, receiver: string) {
    const { later } = this.#naming(incident, receiver)
    const since = Math.ceil(this.#since.policy)
    const isEither = (due: number) => Math.ceil(due) < since && since <= Math.ceil(due) + lateOf(due)
    if (this.#on.pages && later.some(({ due }) => isEither(due))) this.#races()
    return distinct(incident.reach(receiver), later).filter(({ due }) => Math.ceil(due) >= since)
  }

  /** When a later step notifies a receiver that knows as much; those that add nothing have notified. */
  #pageOf(incident: Incident, receiver: string): number {
    const [reach, later] = [incident.reach(receiver), this.#paging(incident, receiver)]
    if (!this.#on.pages || later.length === 0) return Infinity
    const due = pageAt(reach, later)
    if (Math.ceil(due) > this.#now || reach.held !== undefined) return due
    const added = adding(reach, later, this.#now)
    if (added === "uncertain") this.#races()
    else if (added !== undefined) return added
    page(reach, later, this.#now, true)
    return Infinity
  }

  #handoverOf(...of: Parameters<typeof handoverOf>): Cause | undefined {
    const cause = handoverOf(...of)
    if (cause !== "uncertain") return cause
    this.#races()
    return undefined
  }

  /** A firing that waits takes the cause of a handover. Returns whether one is owed without it. */
  #handOver(incident: Incident, receiver: string): boolean {
    const naming = this.#naming(incident, receiver)
    const cause = this.#handoverOf(incident, receiver, naming)
    if (cause === undefined) return false
    const waiting = incident
      .reach(receiver)
      .rows.filter(({ state }) => state === "pending" || state === "retry")
    const [row] = waiting
    // A claim could be first, and of two that wait, either one could take it.
    if (waiting.length > 1 || row?.state === "pending") this.#races()
    else if (row !== undefined && row.byTime === undefined) row.cause = cause
    return row === undefined
  }

  /** Decides on the firings for one receiver. */
  #evaluate(incident: Incident, receiver: string): void {
    const [now, reach, naming] = [this.#now, incident.reach(receiver), this.#naming(incident, receiver)]
    if (!naming.isNamed && incident.loud.length > 0) {
      if (reach.held?.byTime !== undefined || reach.again) reach.held = undefined
      reach.again = false
    }
    const hadHeld = reach.held !== undefined
    const comes = this.#handOver(incident, receiver)
    const isOwed = this.#owe(incident, receiver, { late: this.#late, comes })
    const { last } = reach
    const isIdle = !isOwed && reach.rows.every(({ state }) => state !== "pending" && state !== "retry")
    const remindAt = isIdle && last > 0 && reach.held?.byTime === undefined ? last + naming.remind : Infinity
    // An acknowledgement ran out: each named receiver that knows of the incident, or whose first step waits, gets one.
    const waits = hadHeld && (naming.isFirst || !this.#on.begins)
    const hasAckEnded = incident.ackEnded === now && (waits || reach.knows > 0)
    const isTimed = hasAckEnded || remindAt <= now
    // Of a handover and one of these for which no row waits yet, it is a handover.
    if (naming.isNamed && isTimed && (hadHeld || !comes)) {
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
    this.#hasten(reach)
    const naming = this.#naming(incident, receiver)
    const { isFirst, isLater, rotas } = naming
    const isOfStep = this.#on.pages && !reach.again && (!isFirst || reach.knows >= incident.announced)
    const byEvent =
      reach.knows > 0 ? (isOfStep ? "escalation" : "worsened") : isLater ? "escalation" : "opened"
    const cause = row.byTime ?? this.#handoverOf(incident, receiver, naming) ?? byEvent
    const { rank } = incident
    const freed = { rank, known: rank, cause, isAgain: reach.again, rotas, freeAt: this.#now }
    Object.assign(row, { ...freed, pagedBefore: reach.paged })
    Object.assign(reach, { held: undefined, rows: [...reach.rows, row], owedSince: undefined, again: false })
    if (this.#on.pages) page(reach, naming.later, this.#now)
  }

  // Holds

  #mutes(at: number): ReadonlyArray<ReadonlyArray<string>> {
    const silences = this.#silences.filter(({ from, until }) => from <= at && at < until)
    return [...silences, ...Naming.windowsAt(this.#rules.policy, at)].map(({ match }) => match)
  }

  /** When silences and windows ended that covered an incident: a service that was stopped saw it later. */
  #unmutedAt(incident: Incident): number {
    const { from, to } = this.#stopped
    let at = this.#now
    while (this.#now === to && from < at && !this.#isMuted(incident, at - TICK)) at -= TICK
    return at
  }

  /** Whether silences and windows cover an incident. */
  #isMuted({ facts }: Incident, at = this.#now): boolean {
    const mutes = this.#mutes(at)
    const isCovered = (member: Naming.Facts) => mutes.some((match) => Naming.covers(match, [member]))
    return facts.length > 0 && facts.every(isCovered)
  }

  /** Whether something holds a firing besides its own time. */
  #isHeld(incident: Incident, receiver: string, row: Row): boolean {
    const { facts } = incident
    const isQuiet = incident.announced < Naming.quietBelow(this.#rules.policy, receiver, this.#now)
    // Only a row that is held already stays so while all members are silent.
    const isCovered = facts.length === 0 ? row === incident.reach(receiver).held : this.#isMuted(incident)
    return this.#hasParents(incident, row) || isCovered || isQuiet || incident.isAcknowledged
  }

  /** Whether parents hold a firing, and keeps when they ended. */
  #hasParents(incident: Incident, row: Row): boolean {
    const [now, { announced, facts, members }] = [this.#now, incident]
    const rules = members.size > Naming.MOST_MEMBERS ? [] : Naming.dependenciesOf(this.#rules.policy, facts)
    const stale = this.#members.staleAt(now).map((agent) => [Naming.factsOf(`${agent}/@heartbeat`, 3, agent)])
    const others = [
      ...this.#open.filter((one) => one !== incident && one.announced > 0),
      ...stale.map((facts) => ({ announced: 3, facts })),
    ]
    const worst = Math.max(0, ...rules.map((rule) => Naming.parentsOf(rule, facts, others)))
    const grace = Math.max(0, ...rules.map((rule) => rule.grace ?? 0))
    // All of an instant after its own event is seen at once.
    const isOfEvent = row.before === undefined && Math.ceil(row.written) === now
    const known = ({ firstEnded, parentEnded, parents }: Row) => ({ firstEnded, parentEnded, parents })
    if (row.before?.at === now) Object.assign(row, row.before.held)
    else if (!isOfEvent) row.before = { at: now, held: known(row) }
    const [had, holds] = [row.parents.length > 0, worst > 0 && worst >= announced]
    const all = this.#rules.policy.dependencies ?? []
    // A parent ends when it no longer explains any member, and not because some member has none.
    const ended = row.parents.map((keys) => keys.map((key) => !Naming.isParent(all, key, facts, others)))
    const hasEnded = ended.some((each) => each.every(Boolean))
    // Of several that hold it alike, any one is its parent.
    if (had && worst === 0 && !hasEnded && ended.flat().includes(true)) this.#races()
    if (worst > 0) row.parentEnded = undefined
    else if (had && (hasEnded || row.parentEnded !== undefined)) row.parentEnded ??= this.#moment(LATENESS)
    if (had) row.firstEnded ??= row.parentEnded
    const recovers = had && now < (row.parentEnded ?? 0) + RECOVERY
    const stays = (worst > 0 ? holds : recovers) && now < (row.firstEnded ?? Infinity) + LONGEST
    if (!stays) row.parents = []
    else if (worst > 0) row.parents = rules.flatMap((rule) => Naming.parentKeys(rule, facts, others))
    if (isOfEvent) row.before = { at: now, held: known(row) }
    const waitsUntil = grace + (row.byTime === undefined ? Math.max(row.written, row.due) : row.written)
    // The pass after a change of a parent.
    if (had && !stays && row.due <= now) row.freed = this.#moment(LATENESS)
    else if (Math.ceil(waitsUntil) === now) row.freed = waitsUntil
    return stays || (!holds && now < waitsUntil)
  }

  // Sending, which is part of the instant in which a row is free

  #row({ changes: change, rank }: Incident, { due = this.#now, event = "firing" }: Partial<Row>): Row {
    this.#happens()
    const written = Math.ceil(due) === this.#now ? due : this.#now
    return { event, state: "pending", rank, known: rank, due, written, change, mayWait: false, parents: [] }
  }

  /** A row that is due makes earlier ones due that wait for a retry. */
  #hasten({ rows }: Reach): void {
    for (const row of rows)
      if (row.state === "retry") Object.assign(row, { state: "pending", due: this.#now })
  }

  /** Attempts a row after those of earlier changes, and those before it of its own. One that is held now becomes the only held one. */
  #claim(incident: Incident, receiver: string, row: Row): void {
    const reach = incident.reach(receiver)
    const { again, rows } = reach
    const isBefore = ({ change }: Row, place: number) =>
      change < row.change || (change === row.change && place < rows.indexOf(row))
    if (rows.some((other, place) => other.state === "retry" && isBefore(other, place))) return
    if (row.event === "firing" && row.attempted === undefined && this.#isHeld(incident, receiver, row)) {
      const left = rows.filter((other) => other !== row)
      row.mayWait = true
      reach.paged = row.pagedBefore ?? reach.paged
      Object.assign(reach, { held: row, rows: left, owedSince: row.due, again: again || row.isAgain })
    } else this.#attempt(incident, receiver, row)
  }

  #attempt(incident: Incident, receiver: string, row: Row): void {
    const [{ key }, { cause, due, event, freed = due, rank }, from] = [incident, row, this.now]
    const isKnown = incident
      .reach(receiver)
      .rows.some((one) => one.event === "firing" && (one.state === "sent" || one.state === "discarded"))
    const late = [due, freed].map((time) => (Math.ceil(time) === this.#now ? lateOf(time) : 0))
    const to = from + Math.max(this.#late, ...late) + LATENESS
    this.#happens(to - LATENESS - from)
    row.attempted = this.#moment(to - from)
    row.begun ??= row.attempted
    this.#claimed.add(row)
    const answer = this.#answers.get(receiver) ?? "accepts"
    row.state = ANSWERED[answer]
    if (row.state === "retry") row.retriedSince ??= row.attempted
    // A resolved ends where no firing arrived.
    if (event === "resolved" && !isKnown) row.state = "failed"
    if (event === "firing") this.#answer(incident, receiver, row, to - from)
    const opening = this.#openingOf(incident)
    const severity = severityOf(rank)
    this.attempts.push({ receiver, key, opening, event, severity, at: from, isReached: row.state === "sent" })
    const arrives = row.state === "sent" || answer === "loses"
    if (arrives) this.messages.push({ receiver, key, opening, event, cause, severity, from, to })
    if (row.state === "sent") this.#repair(receiver, true)
  }

  #answer(incident: Incident, receiver: string, { state }: Row, late: number): void {
    if (state === "sent" || state === "retry" || state === "failed")
      this.#follow(incident, receiver, state, late)
  }

  /** Who refuses, or is out of reach, has the next one on call beside it, who is named within a pass. */
  #follow({ onCall, reaches }: Incident, receiver: string, how: Ended, late = 0): void {
    const before = onCall.stays
    onCall.answer(receiver, how, this.#now)
    if (isDeepStrictEqual(before, onCall.stays)) return
    this.#namings.clear()
    this.#refusedWithin = Math.max(this.#refusedWithin, late + LATENESS)
    // An attempt of the same instant at one who comes or leaves could be before this one, or after it.
    const moved = Array.from(reaches).filter(([name]) =>
      Array.from(onCall.stays).some(([rota, stays]) => before.get(rota)?.has(name) !== stays.has(name)),
    )
    const rows = moved.flatMap(([, reach]) => reach.rows)
    if (rows.some((row) => row.state === "pending" || this.#claimed.has(row))) this.#races()
  }

  /** Two pieces of background work could happen in either order. */
  #races(): void {
    this.racingFrom = Math.min(this.racingFrom, this.now)
  }

  /** Now, or so much later. */
  #moment(late: number): number {
    return momentOf(this.#now, late)
  }

  /** Something happens, or may happen so much later. */
  #happens(late = 0): void {
    this.#namings.clear()
    if (this.now <= this.#busyBefore) this.#races()
    this.busyUntil = Math.max(this.busyUntil, this.now + late + LATENESS)
  }
}

interface Owing {
  /** Whether an event is loud; absent at an evaluation. */
  readonly isLoud?: boolean
  readonly late: number
  readonly comes?: boolean
}
