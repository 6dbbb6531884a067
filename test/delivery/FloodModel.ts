/**
 * Which messages receivers get of what is due for them, by docs/rules.md#floods and docs/rules.md#digests alone. It
 * shares nothing with the core. Times are milliseconds of the story.
 */

export type FloodType = "firing" | "resolved"

/** A notification that is due, or will be. */
export interface Owed {
  readonly id: string
  readonly incident: string
  /** Of one incident, that which comes first. */
  readonly seq: number
  readonly type: FloodType
  /** How severe: 1 to 3. */
  readonly rank: number
  readonly due: number
  /** Whether it comes after all others, and whether a change of who is on call made it owed. */
  readonly isLate: boolean
  readonly isByTurn: boolean
}

interface Waiting extends Owed {
  /** Whether an attempt is under way. */
  readonly isUnderWay: boolean
  /** Those of the message that failed, where it was one about several. */
  readonly failedWith?: ReadonlySet<string>
}

/** How the messages of a receiver are sent: each alone, those of a minute together, or more than so many together. */
export type Way = "off" | "flood" | { readonly over: number }

/** The states of a minute, and what moves it. */
export const MINUTE_MOVES = {
  calm: { first: "counting" },
  counting: { another: "counting", fifth: "full", ends: "calm" },
  full: { worse: "full", waits: "gathering", ends: "calm" },
  gathering: { worse: "gathering", waits: "gathering", ends: "calm" },
} as const
type MinuteState = keyof typeof MINUTE_MOVES

interface Minute {
  state: MinuteState
  ends: number
  worst: number
  readonly sent: Set<string>
}

const [SINGLY, MINUTE] = [5, 60_000]

const inOrder = (a: Owed, b: Owed): number =>
  Number(a.isLate) - Number(b.isLate) || a.due - b.due || (a.id < b.id ? -1 : 1)

/** One receiver. */
export class FloodModel {
  /** The moves of its minutes so far. */
  readonly moves = new Set<string>()
  readonly #way: Way
  readonly #rows = new Map<string, Waiting>()
  readonly #minutes: Record<FloodType, Minute>

  constructor(way: Way) {
    this.#way = way
    const calm = (): Minute => ({ state: "calm", ends: -Infinity, worst: 0, sent: new Set() })
    this.#minutes = { firing: calm(), resolved: calm() }
  }

  /** Something is owed, from a moment on; or sooner, because what is due comes behind it. */
  owe(row: Owed): void {
    this.#rows.set(row.id, { ...row, isUnderWay: false })
  }

  /** It is held, discarded, sent or refused. */
  drop(id: string): void {
    this.#rows.delete(id)
  }

  /** Its attempt failed in passing, and is made again then. */
  fail(id: string, due: number): void {
    const row = this.#rows.get(id)
    if (row !== undefined) this.#rows.set(id, { ...row, due, isUnderWay: false })
  }

  /** When something is to go out next, after a moment. */
  next(now: number): number {
    const dues = Array.from(this.#rows.values(), ({ due }) => due)
    return Math.min(...dues.filter((due) => due > now))
  }

  /** The messages that go out at once, each with the notifications that it is about. */
  send(now: number): ReadonlyArray<ReadonlyArray<string>> {
    const rows = Array.from(this.#rows.values())
    const isFirst = (row: Waiting) =>
      !rows.some(({ id, incident, seq }) => {
        const isBefore = seq < row.seq || (seq === row.seq && id < row.id)
        return incident === row.incident && isBefore
      })
    const due = rows.filter((row) => row.due <= now && !row.isUnderWay && isFirst(row)).toSorted(inOrder)
    const messages = this.#messages(due, now)
    for (const message of messages)
      for (const { id, ...row } of message) {
        const { failedWith: _, ...rest } = row
        const together = message.length > 1 ? { failedWith: new Set(message.map((one) => one.id)) } : {}
        this.#rows.set(id, { id, ...rest, ...together, isUnderWay: true })
      }
    return messages.map((message) => message.map(({ id }) => id).toSorted())
  }

  #messages(due: ReadonlyArray<Waiting>, now: number): ReadonlyArray<ReadonlyArray<Waiting>> {
    const way = this.#way
    if (way === "off") return due.map((row) => [row])
    if (way !== "flood") return due.length > way.over ? apart(due) : due.map((row) => [row])
    return (["firing", "resolved"] as const).flatMap((type) =>
      this.#ofMinute(
        due.filter((row) => row.type === type),
        type,
        now,
      ),
    )
  }

  #ofMinute(due: ReadonlyArray<Waiting>, type: FloodType, now: number) {
    const minute = this.#minutes[type]
    const { ends } = minute
    if (due.length === 0) return []
    if (now >= ends && minute.sent.size > 0) {
      // Firings that waited, and those behind them, go out together.
      if (minute.state === "gathering" && due.some((row) => row.due <= ends)) return apart(due)
      this.#move(minute, "ends")
      minute.sent.clear()
    }
    const turns = due.filter(({ isByTurn }) => isByTurn)
    const isAgain = ({ failedWith }: Waiting) =>
      failedWith !== undefined && due.filter(({ id }) => failedWith.has(id)).length > 1
    const together = due.filter((row) => isAgain(row) || (turns.length > SINGLY && row.isByTurn))
    const singly = due.filter((row) => !together.includes(row) && this.#passes(minute, row, due, now))
    return [...apart(together), ...singly.map((row) => [row])]
  }

  /** Whether one goes out alone; else it waits for the end of the minute. */
  #passes(minute: Minute, row: Waiting, due: ReadonlyArray<Waiting>, now: number): boolean {
    const { id, rank, type } = row
    if (minute.sent.has(id)) return true
    if (minute.state === "calm") {
      Object.assign(minute, { ends: now + MINUTE, worst: rank })
      minute.sent.add(id)
      this.#move(minute, "first")
      return true
    }
    if (minute.state === "counting") {
      minute.sent.add(id)
      minute.worst = Math.max(minute.worst, rank)
      this.#move(minute, minute.sent.size >= SINGLY ? "fifth" : "another")
      return true
    }
    // One of its incident that is more severe comes after it. Of several of these, one comes.
    const worstOf = ({ incident }: Waiting) =>
      Math.max(
        ...Array.from(this.#rows.values()).flatMap((one) => (one.incident === incident ? one.rank : [])),
      )
    const before = due.slice(0, due.indexOf(row)).filter((one) => minute.sent.has(one.id))
    const followed = Math.max(minute.worst, ...before.map(worstOf))
    if (type === "firing" && (rank > minute.worst || worstOf(row) > followed)) {
      minute.sent.add(id)
      minute.worst = Math.max(minute.worst, rank)
      this.#move(minute, "worse")
      return true
    }
    this.#rows.set(id, { ...row, due: minute.ends })
    this.#move(minute, "waits")
    return false
  }

  #move(minute: Minute, trigger: string): void {
    const moves: Readonly<Record<string, MinuteState>> = MINUTE_MOVES[minute.state]
    const after = moves[trigger]
    if (after === undefined) throw new Error(`a minute that is ${minute.state} does not move by ${trigger}`)
    this.moves.add(`${minute.state} ${trigger}`)
    minute.state = after
  }
}

/** One message of each kind: firings, those of a change of who is on call, and resolutions. */
const apart = (rows: ReadonlyArray<Waiting>): ReadonlyArray<ReadonlyArray<Waiting>> => {
  const kinds = Map.groupBy(rows, ({ isByTurn, type }) => (isByTurn ? "turn" : type))
  return Array.from(kinds.values())
}
