import { handOver, owe, remind } from "./due.ts"
import { CHORES, type Facts } from "./Facts.ts"
import { endTurns, free, holdAgain } from "./free.ts"
import { type Member, type Named, namesOf } from "./Named.ts"
import { OnCall, OUT_OF_REACH } from "./OnCall.ts"
import { type Row, Rows } from "./Row.ts"
import { Severities } from "./Severities.ts"
import { pageSteps } from "./steps.ts"
import type { World } from "./World.ts"

/** Seconds between the attempts of a row. */
const DELAYS = [5, 30, 120, 300, 900, 1_800, 3_600, 7_200]
const LONGEST = 14_400

/** One incident by the rules of the contract. */
export class Incident implements Facts {
  readonly world: World
  readonly key: string
  readonly openedAt: number
  readonly rows = new Rows()
  readonly severities: Severities
  readonly onCall: OnCall
  readonly members = new Map<string, Member>()
  isOpen = true
  beginning = -Infinity
  /** When an acknowledgement ran out last. */
  ranOutAt = -Infinity
  readonly dueUnder = new Map<"mute" | "outage", number>()
  readonly waitsUnder = new Set<string>()
  /** The text leaves open what follows from here. */
  openBecause: string | undefined
  readonly forced = new Set<string>()
  readonly eventOwed = new Set<string>()
  readonly paged = new Set<string>()
  readonly pagedAhead = new Set<string>()
  #ack: { readonly until: number; readonly rank: number } | undefined
  #wasMuted = false
  #wasOut = false

  constructor(world: World, key: string, openedAt: number) {
    this.world = world
    this.key = key
    this.openedAt = openedAt
    this.severities = new Severities(world.againAfter)
    this.onCall = new OnCall(world.rotas, this.rows, openedAt)
  }

  get rank(): number {
    return Math.max(0, ...Array.from(this.members.values(), ({ rank }) => rank))
  }
  get isAcknowledged(): boolean {
    return this.#ack !== undefined && this.severities.announced <= this.#ack.rank
  }

  isHeld(at: number): boolean {
    return this.isAcknowledged || this.world.isMuted(this, at) || this.world.isOut(at)
  }

  noteDue(at: number): void {
    if (this.isAcknowledged) return
    if (this.world.isMuted(this, at)) this.dueUnder.set("mute", this.dueUnder.get("mute") ?? at)
    if (this.world.isOut(at)) this.dueUnder.set("outage", this.dueUnder.get("outage") ?? at)
  }

  names(most = 3): ReadonlyMap<string, Named> {
    return namesOf(Array.from(this.members.values()), most, {
      policy: this.world.policy,
      every: this.world.every,
      onCall: (name) => this.onCall.of(name),
      key: this.key,
      openings: (within) => this.world.openings(this.key, this.openedAt, within),
    })
  }

  write(at: number, receiver: string, more: Partial<Row>): Row {
    return this.rows.write(at, receiver, this.world.batch, { rank: this.rank, states: this.rank, ...more })
  }

  /** A check changes its status. */
  apply(at: number, member: Member): void {
    const name = `${member.agent}/${member.check}`
    const before = this.members.get(name)?.rank ?? 0
    if (member.rank === 0) this.members.delete(name)
    else this.members.set(name, member)
    if (this.members.size === 0) return this.#resolve(at, member.isLoud, before)
    if (member.isLoud && member.rank > before) this.#announce(at)
    else if (this.rank < this.severities.announced) {
      this.severities.fall(this.rank, at)
      this.#forget(at)
    }
    owe(this, at)
    free(this, at)
  }

  acknowledge(until: number): void {
    this.#ack = { until, rank: this.rank }
  }

  withdraw(at: number): void {
    if (this.#ack !== undefined) this.#endAck(at)
  }

  /** Does what is due at a moment. */
  settle(at: number): void {
    if (!this.isOpen) return
    this.#forget(at)
    if (this.#ack !== undefined && this.#ack.until <= at) this.#runOut(this.#ack.until)
    this.#lookWhoIsOnCall(at)
    endTurns(this, at)
    this.#holdRetries()
    this.#endHolds(at)
    holdAgain(this, at)
    owe(this, at)
    pageSteps(this, at)
    handOver(this, at)
    remind(this, at)
    free(this, at)
  }

  /** The clock is set back by so many seconds: what happened counts as of now at the latest. */
  setBack(at: number, by: number): void {
    const moved = (then: number) => (Number.isFinite(then) ? Math.min(then + by, at) : then)
    if (this.#ack !== undefined) this.#ack = { ...this.#ack, until: this.#ack.until + by }
    this.beginning = moved(this.beginning)
    for (const one of [this.severities, this.rows, this.onCall]) one.setBack(moved)
    const paged = Array.from(this.paged, (name) => name.split(" "))
    this.paged.clear()
    for (const words of paged) {
      const began = Number(words.at(-1))
      const isAhead = began + by > at
      const all = isAhead ? this.pagedAhead : this.paged
      all.add([...words.slice(0, -1), moved(began)].join(" "))
    }
  }

  /** An attempt begins. */
  begin(at: number, row: Row): void {
    row.state = "sending"
    row.attempts += 1
    row.firstAttempt ??= at
    row.lastAttempt = at
    if (row.event === "firing") this.forced.delete(row.receiver)
  }

  /** An attempt ends. */
  end(at: number, row: Row, outcome: "delivered" | "deferred" | "refused", retryAfter: number): void {
    row.lastEnd = at
    if (outcome === "deferred") {
      row.state = "retry"
      row.retrySince ??= row.lastAttempt
      row.readyAt = at + Math.max(DELAYS[row.attempts - 1] ?? LONGEST, retryAfter)
      return
    }
    row.state = outcome === "delivered" ? "sent" : "failed"
    for (const other of this.rows.all)
      if (other.receiver === row.receiver && other.state === "due")
        other.readyAt = Math.max(other.readyAt, at)
  }

  /** When something may change by itself. */
  *moments(): Generator<number> {
    if (!this.isOpen) return
    if (this.#ack !== undefined) yield this.#ack.until
    yield* this.severities.moments()
    for (const begins of [...this.severities.reached.values(), this.beginning])
      for (const delay of this.world.delays) yield begins + delay
    for (const { event, dueAt, lastAttempt, retrySince, state } of this.rows.all) {
      if (event !== "firing") continue
      if (lastAttempt !== undefined) for (const delay of this.world.reminds) yield lastAttempt + delay
      if (retrySince !== undefined) yield retrySince + OUT_OF_REACH
      if (state === "held") yield dueAt
    }
  }

  #announce(at: number): void {
    const { rank } = this
    this.severities.announce(rank, at)
    if (this.#ack !== undefined && rank > this.#ack.rank) {
      this.#endAck(at)
      for (const [receiver, { first }] of this.names()) if (first !== undefined) this.forced.add(receiver)
    }
    for (const receiver of this.names().keys())
      if (this.rows.knows(receiver) < rank) this.eventOwed.add(receiver)
  }

  #forget(at: number): void {
    for (const { as, moment, rank } of this.severities.forget(at))
      for (const row of this.rows.all) {
        if (row.freedAt >= moment || row.rank < rank) continue
        row.rank = as
        if (row.freedAt + CHORES > moment && row.state !== "discarded")
          this.openBecause = "a firing became due as its severity was forgotten"
      }
  }

  #resolve(at: number, isLoud: boolean, rank: number): void {
    this.isOpen = false
    const told = new Set<string>()
    for (const row of this.rows.all) {
      if (row.firstAttempt !== undefined && row.state !== "failed") told.add(row.receiver)
      if (row.state === "held" || row.state === "due" || this.rows.heldRetries.has(row))
        row.state = "discarded"
      if (row.state !== "retry") continue
      row.readyAt = Math.min(row.readyAt, at)
      row.isOptional = !isLoud
    }
    this.rows.heldRetries.clear()
    if (!isLoud) return
    for (const receiver of told)
      this.write(at, receiver, { event: "resolved", state: "due", readyAt: at, rank, states: rank })
  }

  /** An acknowledgement ends: a row of its own takes the place of each that was attempted and that it held. */
  #endAck(at: number): void {
    this.#ack = undefined
    this.beginning = at
    const names = this.names()
    const replaced = Array.from(this.rows.heldRetries)
    this.rows.heldRetries.clear()
    for (const row of replaced) {
      row.state = "discarded"
      const held = this.rows.held(row.receiver)
      if (held?.special !== undefined) continue
      const own = held ?? this.write(at, row.receiver, { rotas: row.rotas })
      own.special = "again"
      own.causes = [...row.causes, "ack_ran_out"]
      own.dueAt = at
      // Whom only later steps name may wait for these, and so does a row of a later step.
      own.isOptional = row.causes.includes("escalation") || names.get(row.receiver)?.first === undefined
    }
  }

  #runOut(at: number): void {
    this.ranOutAt = at
    const held = new Set(Array.from(this.rows.heldRetries, ({ receiver }) => receiver))
    const told = Array.from(this.names()).filter(([receiver, { first }]) => {
      const isWaiting = this.rows.held(receiver) !== undefined || held.has(receiver)
      return this.rows.knows(receiver) > 0 || (first !== undefined && isWaiting)
    })
    this.#endAck(at)
    for (const [receiver, { rotas }] of told) {
      const row = this.rows.held(receiver) ?? this.write(at, receiver, { rotas })
      row.special = "ack_ran_out"
      row.dueAt = at
      row.isOptional = false
    }
  }

  #lookWhoIsOnCall(at: number): void {
    const namedRotas = () =>
      new Set(Array.from(this.names().values()).flatMap(({ rotas }) => Array.from(rotas)))
    this.onCall.look(at, namedRotas)
  }

  #holdRetries(): void {
    for (const row of this.rows.all) {
      if (row.state === "retry" && this.isAcknowledged) this.rows.heldRetries.add(row)
      else if (row.state !== "sending") this.rows.heldRetries.delete(row)
    }
  }

  /** The end of a hold under which something was due is a beginning of the steps. */
  #endHolds(at: number): void {
    const isMuted = this.world.isMuted(this, at)
    const isOut = this.world.isOut(at)
    const since = Math.min(
      this.#wasMuted && !isMuted ? (this.dueUnder.get("mute") ?? Infinity) : Infinity,
      this.#wasOut && !isOut ? (this.dueUnder.get("outage") ?? Infinity) : Infinity,
    )
    if (since < Infinity) {
      if (since + CHORES >= at) this.openBecause = "something was due in the last seconds of a hold"
      this.beginning = at
      // A row that quiet hours hold on belongs to a step that begins anew.
      for (const row of this.rows.all)
        if (row.state === "held" && row.special === "step") row.isOptional = true
    }
    if (!isMuted) this.dueUnder.delete("mute")
    if (!isOut) this.dueUnder.delete("outage")
    if (!isMuted && !isOut) this.waitsUnder.clear()
    this.#wasMuted = isMuted
    this.#wasOut = isOut
  }
}
