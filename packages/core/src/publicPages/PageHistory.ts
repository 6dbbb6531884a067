import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { linesOf, type PublicPage } from "@tocsin/contract/PublicPages"
import { phasesOf, type Span } from "../availability/availability.ts"
import { noFacts, readFacts, type SharedFacts, windowsIn } from "../availability/readFacts.ts"
import { findByCheck } from "../model/CheckRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { findLineChecks, type LineCheck } from "./lineChecks.ts"
import { type FoldedDay, KeptDays, LineFold } from "./LineFold.ts"
import { GRACE, type OpenSilence, silenceAt, statePhasesOf } from "./lineStates.ts"
import { type Day, daysUntil } from "./pageDays.ts"

const USUAL_HISTORY = Duration.days(90)

/** Changes of the checks of one line that are folded together: of more, the days before them are *no data*. */
const MOST_CHANGES = 50_000
/** Days of windows that recur every minute, where those of the whole history would be too many. */
const FEWER_DAYS = 6

/** A check of a line, and its silence when today was folded. */
export interface FoldedCheck extends LineCheck {
  readonly silence: OpenSilence | undefined
}

interface FoldedLine {
  readonly checks: ReadonlyArray<FoldedCheck>
  readonly today: FoldedDay
}

/** The lines of a page as of a moment: today until then, and their checks. */
export interface FoldedToday {
  readonly at: Instant.Instant
  readonly days: ReadonlyArray<Day>
  readonly lines: ReadonlyArray<FoldedLine>
}

interface Sources {
  readonly storage: Storage["Service"]
  readonly sha256: (text: string) => string
  readonly policy: Policy
}

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
    const known = noFacts()
    const lines = yield* Effect.forEach(linesOf(this.page), ({ line }) =>
      Effect.map(
        foldLine(sources, found.get(line)?.checks ?? [], span, [span], known),
        ({ checks, folded: [today = NOTHING] }) => ({ checks, today }),
      ),
    )
    return { at, days, lines }
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
    const known = noFacts()
    for (const [n, { checks }] of lines.entries()) {
      const { folded } = yield* foldLine(sources, checks, span, missing, known)
      for (const [day, { number }] of missing.entries()) this.#kept[n]?.set(number, folded[day] ?? NOTHING)
    }
  })

  /** Whether all ended days are folded. */
  isWhole({ days }: FoldedToday): boolean {
    return days.slice(1).every(({ number }) => this.#kept.every((kept) => kept.get(number) !== undefined))
  }
}

const NOTHING: FoldedDay = { state: "no_data", seconds: 0, judged: 0, ok: 0 }

/** Reads the facts of the checks of a line, one check at a time, and sums them up by days. */
const foldLine = Effect.fnUntraced(function* (
  { policy, sha256, storage }: Sources,
  of: ReadonlyArray<LineCheck>,
  span: Span,
  days: ReadonlyArray<Span>,
  known: SharedFacts,
): Effect.fn.Return<
  { readonly checks: ReadonlyArray<FoldedCheck>; readonly folded: ReadonlyArray<FoldedDay> },
  StorageError
> {
  const { from: windowsFrom, windows } = yield* windowsOf(policy, span)
  const recordOf = findByCheck(of.length === 0 ? [] : yield* storage.checks(of))
  // A silence counts from the end of its grace on.
  const around = { from: Instant.minus(span.from, GRACE), to: span.to }
  const fold = new LineFold()
  const checks: Array<FoldedCheck> = []
  let [room, from] = [MOST_CHANGES, windowsFrom]
  for (const each of of) {
    const check = recordOf(each)
    if (check === undefined) continue
    const facts = yield* readFacts(storage, sha256, { check, facts: each.facts }, around, windows, {
      known,
      room,
    })
    room = Math.max(0, room - facts.changes.length)
    const [oldest] = facts.changes
    if (room === 0) from = Instant.max(from, oldest?.at ?? span.to)
    fold.add(statePhasesOf(facts, span), phasesOf(facts, span))
    checks.push({ ...each, silence: silenceAt(facts, span.to) })
  }
  const folded = fold.days(days).map((day, n) => ((days[n]?.from ?? from) < from ? NOTHING : day))
  return { checks, folded }
})
