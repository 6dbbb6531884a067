import { rankOf, type Reported, type Step, type Story } from "../firings/Story.ts"
import { CHORES } from "./Facts.ts"
import { Incident } from "./Incident.ts"
import { repair } from "./repair.ts"
import type { Row } from "./Row.ts"
import type { Happened, Seen } from "./watchNight.ts"
import { World } from "./World.ts"

/** The model's verdict on a night. */
export interface Judged {
  /** Where the text leaves open what follows, the rest of a night is not judged. */
  readonly verdict: "agrees" | "is open" | "differs"
  readonly why: string
  /** The steps and attempts until then. */
  readonly trace: ReadonlyArray<string>
}

class Verdict extends Error {
  readonly verdict: "is open" | "differs"
  constructor(verdict: "is open" | "differs", why: string) {
    super(why)
    this.verdict = verdict
  }
}

const OUTAGE = 120

const wordsOf = ({ causes, event, receiver, special, state, states }: Row): string =>
  `${receiver} ${event} ${causes.join("|")}${special ? ` (${special})` : ""} rank ${states}, ${state}`

/** Whether a handover follows a coming on call as the incident named the rota nowhere: the service counts that too. */
const isUnnamed = ({ onCall }: Incident, { cause, receiver }: Seen): boolean =>
  cause === "handover" && onCall.came(receiver).some(({ coming }) => !coming.isNamed)

/**
 * The model on a night: it takes what people did and which attempts the service made, and says whether each attempt
 * was owed, and whether each that was owed began in time.
 */
export class Night {
  readonly #world: World
  readonly #incidents: Array<Incident> = []
  readonly #checks = new Map<string, number>()
  /** The incidents and rows of the service, by their ids. */
  readonly #incidentOf = new Map<string, Incident>()
  readonly #rowOf = new Map<string, Row>()
  readonly #firstOf = new Map<string, Seen>()
  readonly #trace: Array<string> = []
  readonly #until: number
  /** Rows may state the incident between two changes of one report, or after them. */
  #mixedUntil = -Infinity
  #isSetBack = false
  #now = 0

  constructor(story: Story, until: number) {
    this.#world = new World(story.policy, story.receivers, story.begins)
    this.#until = until
  }

  judge(log: ReadonlyArray<Happened>): Judged {
    try {
      for (const one of log) {
        this.#passTo(one.at)
        if (one.is === "step") this.#take(one.at, one.step)
        else if (one.is === "attempt") this.#begin(one.seen)
        else this.#end(one.at, one.seen)
      }
      this.#passTo(this.#until)
      return { verdict: "agrees", why: "", trace: this.#trace }
    } catch (error) {
      if (!(error instanceof Verdict)) throw error
      return { verdict: error.verdict, why: error.message, trace: this.#trace }
    }
  }

  /** Settles at each moment until then. */
  #passTo(at: number): void {
    for (let next = this.#nextMoment(); next <= at; next = this.#nextMoment()) this.#settle(next)
    this.#mustHaveBegun(at)
    this.#now = Math.max(this.#now, at)
  }

  #nextMoment(): number {
    let next = Infinity
    const see = (moment: number) => {
      if (moment > this.#now && moment < next) next = moment
    }
    for (const moment of this.#world.moments(this.#until)) see(moment)
    for (const incident of this.#incidents) for (const moment of incident.moments()) see(moment)
    return next
  }

  #settle(at: number): void {
    this.#mustHaveBegun(at)
    this.#now = Math.max(this.#now, at)
    for (const incident of this.#incidents) {
      incident.settle(at)
      if (incident.openBecause !== undefined) throw new Verdict("is open", incident.openBecause)
    }
  }

  /** Rows whose attempt may begin. */
  *#ready(): Generator<readonly [Incident, Row]> {
    for (const incident of this.#incidents)
      for (const row of incident.rows.all) {
        const isReady = row.state === "due" || (row.state === "retry" && !incident.rows.heldRetries.has(row))
        if (isReady && !row.isOptional && !incident.rows.isBlocked(row)) yield [incident, row]
      }
  }

  #mustHaveBegun(at: number): void {
    for (const [{ key }, row] of this.#ready()) {
      let from = row.readyAt
      for (const { from: down, to } of this.#world.outages) if (down <= from + CHORES && from < to) from = to
      // A moment that a clock set back has moved counts from when the service noticed.
      if (from + (this.#isSetBack ? 2 : 1) * CHORES >= at) continue
      const late = `${wordsOf(row)} of ${key} is ready since ${row.readyAt}, and no attempt began until ${at}`
      throw new Verdict("differs", late)
    }
  }

  #take(at: number, step: Step): void {
    this.#trace.push(`${at} ${JSON.stringify(step)}`)
    if (step.step === "answers") return
    const meets = this.#meets(at)
    if (meets !== undefined) throw new Verdict("is open", `a step at ${at}, ${meets}`)
    this.#act(at, step)
    this.#settle(at)
  }

  /** Names something that the service may do before a step or after it. */
  #meets(at: number): string | undefined {
    for (const moment of this.#world.moments(at)) if (moment === at) return "as something changes by itself"
    for (const { isOpen, ranOutAt, rows } of this.#incidents) {
      if (isOpen && ranOutAt > at - CHORES) return "as an acknowledgement ran out"
      for (const row of rows.all)
        if (
          (row.state === "held" && row.dueAt <= at && row.dueAt > at - CHORES) ||
          (row.isOptional && row.state === "due" && row.readyAt + CHORES >= at)
        )
          return `while ${wordsOf(row)}`
    }
    for (const [, row] of this.#ready()) if (row.readyAt <= at) return `while ${wordsOf(row)}`
    return undefined
  }

  #act(at: number, step: Step): void {
    const { outages, rotas, silences } = this.#world
    switch (step.step) {
      case "report":
        return this.#report(at, step.agent, step.results)
      case "acknowledge":
        return this.#picked(step.which)?.acknowledge(at + step.lasts)
      case "withdraw":
        return this.#picked(step.which)?.withdraw(at)
      case "silence":
        silences.push({ match: step.match, from: at, to: at + step.lasts })
        return
      case "expire":
      case "end_override": {
        const all = step.step === "expire" ? silences : rotas.overrides
        const ended = all[step.which % all.length]
        if (ended !== undefined) ended.to = Math.min(ended.to, at)
        return
      }
      case "override": {
        const from = at + step.after
        rotas.overrides.push({ rota: step.rota, receivers: step.receivers, from, to: from + step.lasts })
        return
      }
      case "tests":
        for (const incident of this.#incidents) repair(incident, at, step.receiver, true)
        return
      case "stops":
        if (step.lasts > OUTAGE && outages.some(({ from, to }) => to - from > OUTAGE))
          throw new Verdict("is open", "a second outage")
        outages.push({ from: at, to: at + step.lasts })
        return
      case "clock_back":
        if (outages.some(({ to }) => to + step.by + OUTAGE > at))
          throw new Verdict("is open", "a clock that was set back into an outage")
        this.#isSetBack = true
        if (this.#world.setBack(at, step.by))
          throw new Verdict("is open", "a clock that was set back before a turn")
        for (const incident of this.#incidents) incident.setBack(at, step.by)
        return
      default:
        throw new Error(`the model does not know ${step.step}`)
    }
  }

  /** As the harness picks among open incidents. */
  #picked(which: number): Incident | undefined {
    const open = this.#incidents.filter(({ isOpen }) => isOpen)
    return open.toSorted((one, other) => (one.key < other.key ? -1 : 1))[which % open.length]
  }

  #report(at: number, agent: string, results: ReadonlyArray<Reported>): void {
    this.#world.isEvent = true
    this.#world.batch += 1
    const changed = new Set<string>()
    for (const { check, key = `${agent}/${check}`, loud: isLoud, status } of results) {
      const name = `${agent}/${check}`
      const rank = rankOf(status)
      if ((this.#checks.get(name) ?? 0) === rank) continue
      if (changed.has(key)) this.#mixedUntil = at + CHORES
      changed.add(key)
      this.#checks.set(name, rank)
      let incident = this.#incidents.find((one) => one.isOpen && one.key === key)
      if (incident === undefined) {
        this.#world.opened.push({ key, at })
        incident = new Incident(this.#world, key, at)
        this.#incidents.push(incident)
      }
      incident.apply(at, { agent, check, rank, isLoud })
    }
    this.#world.isEvent = false
  }

  #known(seen: Seen): Incident {
    const known = this.#incidentOf.get(seen.incident)
    if (known !== undefined) return known
    const fresh = this.#incidents.findLast(
      ({ key, openedAt }) => key === seen.key && (this.#isSetBack || openedAt === seen.opened),
    )
    if (fresh === undefined)
      throw new Verdict("differs", `no incident of ${seen.key} opened at ${seen.opened}`)
    this.#incidentOf.set(seen.incident, fresh)
    return fresh
  }

  #begin(seen: Seen): void {
    const { at, cause, event, id, key, outcome, rank, receiver } = seen
    const said = `${at} ${receiver} ${key} ${event} ${cause ?? ""} rank ${rank}, ${outcome}, ${id.slice(-6)}`
    this.#trace.push(`  ${said}`)
    const incident = this.#known(seen)
    const again = this.#rowOf.get(id)
    if (again !== undefined) {
      const first = this.#firstOf.get(id)
      // A firing that waits takes the cause of one who comes on call.
      const isSame = first?.rank === rank && first.receiver === receiver && first.event === event
      if (!isSame || (first.cause !== cause && cause !== "handover" && cause !== "escalation"))
        throw new Verdict("differs", `changed: ${said}`)
      this.#mayGoOn(incident, again, at, said)
      return incident.begin(at, again)
    }
    const rows = incident.rows.all.filter((one) => one.receiver === receiver && one.event === event)
    const row = rows.find((one) => one.state === "due" && one.id === undefined)
    if (row === undefined)
      throw new Verdict(
        isUnnamed(incident, seen) ? "is open" : "differs",
        `not owed: ${said}; rows: ${rows.map(wordsOf).join("; ")}`,
      )
    if (incident.rows.isBlocked(row)) throw new Verdict("differs", `before an earlier one: ${said}`)
    const isOfCause = event === "resolved" || (cause !== undefined && row.causes.includes(cause))
    if (row.states !== rank || !isOfCause) {
      const isOpen = row.isOptional || at <= this.#mixedUntil || isUnnamed(incident, seen)
      throw new Verdict(isOpen ? "is open" : "differs", `${said}; expected ${wordsOf(row)}`)
    }
    if (cause !== undefined) row.causes = [cause]
    row.id = id
    this.#rowOf.set(id, row)
    this.#firstOf.set(id, seen)
    incident.begin(at, row)
  }

  #mayGoOn({ rows }: Incident, row: Row, at: number, said: string): void {
    if (rows.heldRetries.has(row)) throw new Verdict("differs", `in an acknowledgement: ${said}`)
    if (row.state !== "retry" || row.readyAt > at + 0.001)
      throw new Verdict("differs", `too early: ${said}; ${wordsOf(row)}, ready at ${row.readyAt}`)
  }

  #end(at: number, { id, outcome, receiver, retryAfter }: Seen): void {
    const row = this.#rowOf.get(id)
    const incident = this.#incidents.find(({ rows }) => row !== undefined && rows.all.includes(row))
    if (row === undefined || incident === undefined) return
    if (outcome === "cut off") throw new Verdict("is open", "an attempt was cut off")
    incident.end(at, row, outcome, retryAfter)
    if (outcome === "delivered") for (const one of this.#incidents) repair(one, at, receiver, false)
    this.#settle(at)
  }
}
