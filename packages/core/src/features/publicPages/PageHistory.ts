import { Duration, Effect } from "effect"
import type { AvailabilityPhase } from "@tocsin/contract/availability/Availability"
import * as Instant from "@tocsin/contract/formats/Instant"
import { linesOf, MOST_LINE_CHECKS, type PublicPage } from "@tocsin/contract/publicPages/PublicPages"
import {
  type AvailabilityFacts,
  inPieces,
  phasesOf,
  type Span,
} from "../../heart/availability/availability.ts"
import { findByCheck } from "../../kernel/model/CheckRef.ts"
import { byName, findKnown, type KnownCheck } from "../../heart/availability/knownChecks.ts"
import { noFacts, readFacts, type SharedFacts, windowsIn } from "../../heart/availability/readFacts.ts"
import type { Policy } from "../../heart/policy/compilePolicy.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import { findLineChecks, findNeverReported, type LineCheck } from "./lineChecks.ts"
import { type FoldedDay, KeptDays, LineFold } from "./LineFold.ts"
import { GRACE, type OpenGap, gapAt, type StatePhase, statePhasesOf } from "./lineStates.ts"
import { clockOf, latestWall, toInstant } from "../../heart/policy/Schedule.ts"

const DAY = 86_400_000

/** A day of a calendar. */
interface Day extends Span {
  /** Since 1970. */
  readonly number: number
  readonly date: string
}

/** The day of a moment, and those before it, the newest first. Days may have 23 or 25 hours. */
export const daysUntil = (tz: string, at: Instant.Instant, count: number): ReadonlyArray<Day> => {
  const clock = clockOf(tz)
  let today = Math.floor(latestWall(clock, at) / DAY)
  // Near a change of the clock, the latest wall is up to an hour ahead.
  while (toInstant(clock, today * DAY) > at) today -= 1
  return Array.from({ length: count }, (_, n) => {
    const day = today - n
    return {
      number: day,
      date: Instant.format(Instant.fromMillis(day * DAY)).slice(0, 10),
      from: toInstant(clock, day * DAY),
      to: toInstant(clock, (day + 1) * DAY),
    }
  })
}

const USUAL_HISTORY = Duration.days(90)

/** Changes of the checks of one line that are folded together: of more, the days before them are *no data*. */
const MOST_CHANGES = 50_000
/** Changes, states and phases of checks that several lines share: as much as one line has. */
const MOST_SHARED = 3 * MOST_CHANGES
/** Days of windows that recur every minute, where those of the whole history would be too many. */
const FEWER_DAYS = 6

interface FoldedLine {
  readonly checks: ReadonlyArray<LineCheck>
  readonly today: FoldedDay
}

/** The lines of a page as of a moment: today until then, and their checks. */
export interface FoldedToday {
  readonly at: Instant.Instant
  readonly days: ReadonlyArray<Day>
  readonly lines: ReadonlyArray<FoldedLine>
  /** The gaps that have not ended by then. */
  readonly gaps: ReadonlyMap<LineCheck, OpenGap>
}

export interface Sources {
  readonly storage: Storage["Service"]
  readonly sha256: (text: string) => string
  readonly policy: Policy
}

/** The same, with the checks that have become late since without ever having reported. */
export const withNeverReported = Effect.fnUntraced(function* (
  { sha256, storage }: Sources,
  page: PublicPage,
  today: FoldedToday,
): Effect.fn.Return<FoldedToday, StorageError> {
  const late = yield* findNeverReported(storage, sha256, page)
  const lines = linesOf(page).map(({ line }, n) => {
    const { checks, today: day } = today.lines[n] ?? { checks: [], today: NOTHING }
    const found = late.get(line)?.checks ?? []
    const knownOf = findByCheck(found.length === 0 ? [] : checks)
    const more = found.filter((check) => knownOf(check) === undefined)
    if (more.length === 0) return { checks, today: day }
    return { checks: [...checks, ...more].toSorted(byName).slice(0, MOST_LINE_CHECKS), today: day }
  })
  return { ...today, lines }
})

/** The windows of a span, or of its last days. */
const windowsOf = (policy: Policy, span: Span) =>
  windowsIn(policy, span).pipe(
    Effect.map((windows) => ({ windows, from: span.from })),
    Effect.catch(() => {
      const from = Instant.max(span.from, Instant.minus(span.to, Duration.days(FEWER_DAYS)))
      return Effect.map(
        Effect.orElseSucceed(windowsIn(policy, { from, to: span.to }), () => []),
        (windows) => ({ windows, from }),
      )
    }),
  )

/** The past of the lines of a page: each day that has ended is folded once (docs/rules.md#public-pages). */
export class PageHistory {
  readonly page: PublicPage
  readonly #kept: ReadonlyArray<KeptDays>
  readonly #count: number

  constructor(page: PublicPage) {
    this.page = page
    this.#count = Duration.toDays(page.history ?? USUAL_HISTORY)
    this.#kept = linesOf(page).map(() => new KeptDays(this.#count))
  }

  /** The days before today of a line, the newest first; absent until they are folded. */
  daysOf(line: number, days: ReadonlyArray<Day>): ReadonlyArray<FoldedDay | undefined> {
    return days.slice(1).map(({ number }) => this.#kept[line]?.get(number))
  }

  /** Finds the checks of all lines, and folds today until a moment. */
  readonly foldToday = Effect.fnUntraced(function* (
    this: PageHistory,
    sources: Sources,
    at: Instant.Instant,
  ): Effect.fn.Return<FoldedToday, StorageError> {
    const { sha256, storage } = sources
    const found = yield* findLineChecks(storage, sha256, { page: this.page })
    const days = daysUntil(this.page.tz ?? "UTC", at, this.#count)
    const span = { from: days[0]?.from ?? at, to: at }
    const checksOf = linesOf(this.page).map(({ line }) => found.get(line)?.checks ?? [])
    const folding = yield* beginFolding(sources, checksOf, span)
    const lines = yield* Effect.forEach(checksOf, (checks) =>
      Effect.map(foldLine(folding, checks, [span]), ([today = NOTHING]) => ({ checks, today })),
    )
    return { at, days, lines, gaps: folding.gaps }
  })

  /** Folds the ended days of each line that are not folded yet. */
  readonly foldEnded = Effect.fnUntraced(function* (
    this: PageHistory,
    sources: Sources,
    { days, lines }: FoldedToday,
  ): Effect.fn.Return<void, StorageError> {
    const isMissing = ({ number }: Day) => this.#kept.some((kept) => kept.get(number) === undefined)
    const [, ...ended] = days
    const missing = ended.slice(0, ended.findLastIndex(isMissing) + 1).toReversed()
    const [first, last] = [missing[0], missing.at(-1)]
    if (first === undefined || last === undefined) return
    const span = { from: first.from, to: last.to }
    const checksOf = lines.map(({ checks }) => checks)
    const folding = yield* beginFolding(sources, checksOf, span)
    for (const [n, checks] of checksOf.entries()) {
      const folded = yield* foldLine(folding, checks, missing)
      for (const [day, { number }] of missing.entries()) this.#kept[n]?.set(number, folded[day] ?? NOTHING)
    }
  })

  /** Whether all ended days are folded. */
  isWhole({ days }: FoldedToday): boolean {
    return days.slice(1).every(({ number }) => this.#kept.every((kept) => kept.get(number) !== undefined))
  }
}

const NOTHING: FoldedDay = { state: "no_data", seconds: 0, judged: 0, ok: 0 }

/** How a check was in a span. */
interface PastCheck {
  readonly changes: AvailabilityFacts["changes"]
  readonly states: ReadonlyArray<StatePhase>
  readonly phases: ReadonlyArray<AvailabilityPhase>
}

/** The facts that the folds of lines over a span share. */
interface Folding extends Sources {
  readonly windows: Effect.Success<ReturnType<typeof windowsIn>>
  /** Since when the windows are known. */
  readonly from: Instant.Instant
  readonly span: Span
  readonly known: SharedFacts
  /** The checks of several lines: absent until they are read, or without room. */
  readonly past: Map<LineCheck, PastCheck | undefined>
  /** The room that is left in `past`. */
  room: number
  /** The gaps that have not ended by the end of the span. */
  readonly gaps: Map<LineCheck, OpenGap>
}

const beginFolding = Effect.fnUntraced(function* (
  sources: Sources,
  lines: ReadonlyArray<ReadonlyArray<LineCheck>>,
  span: Span,
) {
  const windows = yield* windowsOf(sources.policy, span)
  const once = new Set<LineCheck>()
  const past = new Map<LineCheck, undefined>()
  for (const checks of lines) {
    for (const check of checks)
      if (once.has(check)) past.set(check, undefined)
      else once.add(check)
    // A page may have 40,000 checks.
    yield* Effect.yieldNow
  }
  return { ...sources, ...windows, span, known: noFacts(), past, room: MOST_SHARED, gaps: new Map() }
})

/** Reads how a check was; of its changes, the latest `room` and one more if there are more. */
const readPast = Effect.fnUntraced(function* (
  folding: Folding,
  of: LineCheck,
  check: KnownCheck,
  room: number,
) {
  const { known, past, sha256, gaps, span, storage, windows } = folding
  // A gap counts from the end of its grace on.
  const around = { from: Instant.minus(span.from, GRACE), to: span.to }
  const named = { check, facts: of.facts, isListed: of.isListed }
  const facts = yield* readFacts(storage, sha256, named, around, windows, { known, room })
  const gap = gapAt(facts, span.to)
  if (gap !== undefined) gaps.set(of, gap)
  const { changes } = facts
  const states = yield* inPieces(statePhasesOf(facts, span))
  const read = { changes, states, phases: yield* inPieces(phasesOf(facts, span)) }
  const size = changes.length + read.states.length + read.phases.length
  if (past.has(of) && changes.length <= room && size <= folding.room) {
    past.set(of, read)
    folding.room -= size
  }
  return read
})

/** Sums up the checks of a line by days, one check after another. */
const foldLine = Effect.fnUntraced(function* (
  folding: Folding,
  checks: ReadonlyArray<LineCheck>,
  days: ReadonlyArray<Span>,
) {
  const { past, span, storage } = folding
  // Requests pass between lines whose checks are all read.
  yield* Effect.yieldNow
  const unread = checks.filter((check) => past.get(check) === undefined)
  const knownOf = yield* findKnown(storage, unread)
  const fold = new LineFold()
  let [room, from] = [MOST_CHANGES, folding.from]
  for (const each of checks) {
    const check = knownOf(each)
    const read = past.get(each) ?? (check && (yield* readPast(folding, each, check, room)))
    if (read === undefined) continue
    const { changes, phases, states } = read
    const oldest = changes.at(-(room + 1)) ?? changes[0]
    room = Math.max(0, room - changes.length)
    if (room === 0) from = Instant.max(from, oldest?.at ?? span.to)
    fold.add(states, phases)
  }
  const folded = yield* inPieces(fold.days(days))
  return folded.map((day, n) => ((days[n]?.from ?? from) < from ? NOTHING : day))
})
