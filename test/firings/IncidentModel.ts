import type { Member } from "./MemberModel.ts"
import * as Naming from "./NamingModel.ts"
import { OnCallModel } from "./RotaModel.ts"
import type { Cause } from "./Story.ts"

/** A row of the outbox. */
export interface Row {
  readonly event: "firing" | "resolved"
  readonly written: number
  /** The change of the incident that it belongs to. */
  readonly change: number
  state: "pending" | "retry" | "sent" | "failed" | "discarded"
  rank: number
  /** The severity as which it counts for what its receiver knows. */
  known: number
  due: number
  cause?: Cause
  /** The cause of one that no rule of "who is owed" made. */
  byTime?: Cause
  /** Whether it stands for one that was refused, and an attempt that succeeded brought it. */
  isRepair?: boolean
  isAgain?: boolean
  /** Whether one that is held would be sent without its holds. */
  isOwed?: boolean
  /** The rotas through which the routes named its receiver as it became free. */
  rotas?: ReadonlyArray<string>
  /** When its first attempt began, and its last one. */
  begun?: number
  attempted?: number
  /** Since when it is in retry. */
  retriedSince?: number
  /** Whether its receiver has been out of reach since. */
  isLost?: boolean
  freeAt?: number
  /** Which steps had notified when it became free. */
  pagedBefore?: ReadonlyMap<number, number>
  /** Whether it has a delay or is due by time, or was held: only then it waits after an outage, once. */
  mayWait: boolean
  waitsUntil?: number
  /** The keys of the parents that hold it, those of one member together, when the last one ended, and when one did for the first time. */
  parents: ReadonlyArray<ReadonlyArray<string>>
  parentEnded?: number | undefined
  /** These three before the present instant. */
  before?: { readonly at: number; readonly held: Pick<Row, "parents"> & Partial<Row> }
  firstEnded?: number | undefined
  freed?: number
  /** Whether a parent holds it, or an outage. */
  isUnder?: boolean
}

/** The rows of a receiver for an incident: its only held firing, and those that nothing holds, as they became free. */
export class Reach {
  held: Row | undefined
  rows: ReadonlyArray<Row> = []
  /** Since when it is owed a firing, and whether it is whatever it knows. */
  owedSince: number | undefined
  again = false
  /** The beginning for which the step of each delay has notified. */
  paged: ReadonlyMap<number, number> = new Map()
  /** The delays of those for which another firing stood. */
  stood: ReadonlySet<number> = new Set()
  /** The beginning for which it had, and whose step was to come once more as a clock was set back to `at`. */
  over: ReadonlyMap<number, { readonly began: number; readonly at: number }> = new Map()

  get knows(): number {
    return Math.max(0, ...this.rows.map(({ known, state }) => (state === "discarded" ? 0 : known)))
  }

  /** When its last attempt began. */
  get last(): number {
    return Math.max(...this.rows.map(({ attempted = 0 }) => attempted))
  }
}

export class Incident {
  readonly members = new Map<string, Member>()
  readonly reaches = new Map<string, Reach>()
  /** When it was first announced at each severity that it has not forgotten, and since when it is below each. */
  readonly reached: Array<number | undefined> = []
  readonly fell: Array<number | undefined> = []
  changes = 0
  rank = 0
  announced = 0
  ack: { readonly rank: number; readonly until: number } | undefined
  /** When one expired. */
  ackEnded = 0
  /** When steps began: at the end of its last acknowledgement, or of a hold under which something was due. */
  began = 0
  /** Whether it is muted, and something was due meanwhile. */
  muted: "no" | "yes" | "due" = "no"
  /** When that was for the first time, by a later step. */
  stepMutedAt = -1
  isOpen = true
  readonly onCall = new OnCallModel()
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
    const isOfAgent = /^[^/]+\/@/u.test(this.key)
    return this.loud.map(({ agent, check }) =>
      Naming.factsOf(this.key, this.rank, agent, isOfAgent ? "" : check),
    )
  }

  get isAcknowledged(): boolean {
    return this.ack !== undefined && this.announced <= this.ack.rank
  }

  /** When it was first announced at a severity or worse. */
  reachedAt(rank: number): number {
    return Math.min(...this.reached.flatMap((time, at) => (at >= rank && time !== undefined ? time : [])))
  }

  reach(receiver: string): Reach {
    const reach = this.reaches.get(receiver) ?? new Reach()
    this.reaches.set(receiver, reach)
    return reach
  }
}

/** After a clock was set back, what happened counts as of now; what people named ends when they said. */
export const clamp = (facts: object, now: number): void => {
  for (const [name, fact] of facts instanceof Map ? facts : Object.entries(facts)) {
    if (typeof fact === "object" && fact !== null) clamp(fact, now)
    if (typeof fact !== "number" || fact <= now || /until/iu.test(name)) continue
    if (facts instanceof Map) facts.set(name, now)
    else Reflect.set(facts, name, now)
  }
}
