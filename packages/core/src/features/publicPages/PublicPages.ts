import { Array as Arr, Context, Duration, Effect, Fiber, Layer, Record } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Language } from "@tocsin/contract/languages/Language"
import { compileMatchers } from "@tocsin/contract/labels/Matcher"
import {
  type LineState,
  linesOf,
  type PublicPage,
  type PublicPageBody,
} from "@tocsin/contract/publicPages/PublicPages"
import type { Severity } from "@tocsin/contract/formats/Status"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import { findByCheck } from "../../kernel/model/CheckRef.ts"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { Policy } from "../../heart/policy/compilePolicy.ts"
import { occurrenceInForce } from "../../heart/policy/occurrences.ts"
import { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import { READ_TOGETHER } from "../../heart/availability/readFacts.ts"
import { isLate } from "../../heart/overdue/shownState.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { publicUrlOf, RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"
import type { LineCheck } from "./lineChecks.ts"
import { stateNow, worstOf } from "./lineStates.ts"
import { type FeedEntry, feedOf, pageBody, type ReadPage } from "./pageBody.ts"
import { type FoldedToday, PageHistory, type Sources, withNeverReported } from "./PageHistory.ts"
import { type AnnouncementRecord, announcementState } from "./AnnouncementRecord.ts"
import { firstRows } from "../../kernel/engine/lists/readPage.ts"
import { MAX_UNENDED_ANNOUNCEMENTS } from "./announcementDecisions.ts"

/** All that have not ended, and as many that have: more than a page or a feed shows. */
const MOST = 2 * MAX_UNENDED_ANNOUNCEMENTS

/** The announcements of a public page, by one query: those that have not ended first, then the latest ended. */
export const readAnnouncements = (storage: Storage["Service"], page: string) =>
  firstRows(storage, { list: "announcements", filter: { page }, sort: "ends_at", direction: "desc" }, MOST)

/** The lines, by their LINE, that open announcements put in maintenance at a moment (docs/rules.md#announcements). */
export const announcedMaintenance = (
  announcements: ReadonlyArray<Pick<AnnouncementRecord, "ends_at" | "kind" | "lines" | "starts_at">>,
  at: Instant.Instant,
): ReadonlySet<string> =>
  new Set(
    announcements
      .filter((one) => one.kind === "maintenance" && announcementState(one, at) === "open")
      .flatMap(({ lines }) => lines),
  )

/** The shortest time between two reads of one page. */
const READ_EVERY = Duration.seconds(15)
/** Today is folded until multiples of this. */
const FOLD_EVERY = 300_000_000n
/** How long a reader waits for a newer page, or for the days of the first one. */
const PATIENCE = Duration.seconds(1)
/** How long a reader waits for the first page. */
const FIRST_PATIENCE = Duration.seconds(5)

/** A page as it is served. Another one is another object. */
export interface BuiltPage {
  readonly name: string
  readonly body: PublicPageBody
  /** All announcements that are kept. */
  readonly feed: ReadonlyArray<FeedEntry>
  readonly tz: string
  readonly lang: Language
  /** Whether a newer one could not be read. */
  readonly isOutdated: boolean
}

/** A page that could not be read yet, in the language of its readers. */
interface UnreadPage {
  readonly unreadyIn: Language
}

/** `unknown`: the policy has no such page. */
export type FoundPage = BuiltPage | UnreadPage | "unknown"

/** Whether a window in force covers a check, by its severity. */
const coveredNow = ({ windows }: Policy, now: Instant.Instant) => {
  const inForce = windows.flatMap((window) =>
    occurrenceInForce(window, now) === undefined ? [] : [compileMatchers(window.match)],
  )
  return ({ facts }: LineCheck) =>
    (severity: Severity) =>
      inForce.some((covers) => covers({ ...facts, severity }))
}

/** Checks whose states are read in one turn of the event loop: some milliseconds. */
const CHECKS_TOGETHER = 1_000

/** The present knowledge of each of these checks: how bad it is while it is late, and its gap while its agent is dead. */
const readNow = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  checks: ReadonlyArray<LineCheck>,
  gaps: FoldedToday["gaps"],
) {
  const recordOf = findByCheck<CheckRecord>(yield* storage.checks(checks))
  const expected = checks.filter((check) => {
    const record = recordOf(check)
    return record === undefined || isLate(record)
  })
  const expectationOf = findByCheck(expected.length === 0 ? [] : yield* storage.rows("expectation", expected))
  const ids = new Set(expected.flatMap((each) => (gaps.get(each)?.isOfAgent === true ? [each.agent_id] : [])))
  const agents = yield* Effect.forEach(ids, storage.agent, { concurrency: READ_TOGETHER })
  const alive = new Set(
    agents.flatMap((agent) => (agent?.heartbeat_incident_id === undefined ? (agent?.agent_id ?? []) : [])),
  )
  return (check: LineCheck) => {
    const { expected_from, incident_id, terms } = expectationOf(check) ?? {}
    const late = incident_id === undefined ? undefined : terms?.severity
    const gap = late !== undefined && alive.has(check.agent_id) ? undefined : gaps.get(check)
    const record = recordOf(check)
    if (record !== undefined)
      return record.withdrawn_at === undefined && !record.is_of_place
        ? { last: record, late, gap }
        : undefined
    // One that never reported counts from when it was expected.
    return late && expected_from && { last: { received_at: expected_from, status: late }, late, gap }
  }
})

/** The states of the lines. */
const readStates = Effect.fnUntraced(function* (
  { policy, storage }: Sources,
  page: PublicPage,
  { at, lines, gaps }: FoldedToday,
  announcements: ReadPage["announcements"],
): Effect.fn.Return<Pick<ReadPage, "asOf" | "states">, StorageError> {
  // Lines may share checks, of which a page may have 40,000.
  const checks = Array.from(new Set(lines.flatMap((line) => line.checks)))
  const isCovered = coveredNow(policy, yield* Instant.now)
  const stateOf = new Map<LineCheck, LineState>()
  for (const piece of Arr.chunksOf(checks, CHECKS_TOGETHER)) {
    const nowOf = yield* readNow(storage, piece, gaps)
    const readAt = yield* Instant.now
    for (const check of piece) {
      const found = nowOf(check)
      if (found === undefined) continue
      const { gap, last, late } = found
      stateOf.set(check, stateNow(last, late, { at, gap }, isCovered(check), readAt))
    }
    yield* Effect.yieldNow
  }
  const now = yield* Instant.now
  const maintained = announcedMaintenance(announcements, now)
  const states = linesOf(page).map(({ id }, n) =>
    maintained.has(id)
      ? "maintenance"
      : worstOf(new Set(lines[n]?.checks.flatMap((check) => stateOf.get(check) ?? []))),
  )
  return { asOf: now, states }
})

/** One page of the policy, and what is known of it. */
interface ServedPage {
  /** Its definition, and the windows by which its days are folded. */
  readonly key: string
  readonly history: PageHistory
  /** When its states were read, or reading them was last begun. */
  readAt?: Instant.Instant
  today?: FoldedToday
  read?: ReadPage
  built?: BuiltPage
  reading?: Fiber.Fiber<void>
  folding?: Fiber.Fiber<void>
}

const isRunning = (fiber: Fiber.Fiber<void> | undefined): fiber is Fiber.Fiber<void> =>
  fiber !== undefined && fiber.pollUnsafe() === undefined

const isFresh = ({ readAt }: ServedPage, now: Instant.Instant): boolean =>
  readAt !== undefined && Instant.isRecent(readAt, READ_EVERY, now)

const NOT_RENEWED =
  "a public page cannot be read again; the last one is served, with the time as of which it is"

/** The pages of a policy, in its language where they state none. */
const pagesOf = ({ lang, pages = {} }: PolicyDocument): Readonly<Record<string, PublicPage>> =>
  lang === undefined ? pages : Record.map(pages, (page) => ({ lang, ...page }))

/** The pages of the policy in force, each kept while the policy defines it so. */
const makePages = ({ current }: PolicyInForce["Service"]) => {
  const pages = new Map<string, ServedPage>()
  let document: PolicyDocument | undefined
  let defined = pagesOf({})
  return (name: string): ServedPage | undefined => {
    const { document: present } = current()
    const { windows } = present
    const keyOf = (page: PublicPage) => JSON.stringify([page, windows])
    if (document !== present) {
      document = present
      defined = pagesOf(present)
      for (const [each, { key }] of pages) {
        const page = Object.hasOwn(defined, each) ? defined[each] : undefined
        if (page === undefined || keyOf(page) !== key) pages.delete(each)
      }
    }
    const known = pages.get(name)
    const page = Object.hasOwn(defined, name) ? defined[name] : undefined
    if (known !== undefined || page === undefined) return known
    const served = { key: keyOf(page), history: new PageHistory(page) }
    pages.set(name, served)
    return served
  }
}

/** The public pages of the policy (docs/rules.md#public-pages). A page without readers reads nothing. */
export class PublicPages extends Context.Service<PublicPages>()(
  "@tocsin/core/features/publicPages/PublicPages",
  {
    make: Effect.gen(function* () {
      const storage = yield* Storage
      const { sha256 } = yield* Hashing
      const inForce = yield* PolicyInForce
      const scope = yield* Effect.scope
      const rules = yield* RuleSettings
      const pageOf = makePages(inForce)

      const assemble = (name: string, served: ServedPage, read: ReadPage): void => {
        served.read = read
        const { history } = served
        const { lang = "en", tz = "UTC" } = history.page
        served.built = {
          name,
          tz,
          lang,
          body: pageBody(history, read),
          feed: feedOf(read),
          isOutdated: false,
        }
      }

      const foldEnded = Effect.fnUntraced(function* (name: string, served: ServedPage, today: FoldedToday) {
        yield* served.history.foldEnded({ storage, sha256, policy: inForce.current() }, today)
        if (served.read !== undefined) assemble(name, served, served.read)
      })

      const read = Effect.fnUntraced(function* (name: string, served: ServedPage) {
        const sources = { storage, sha256, policy: inForce.current() }
        const { history } = served
        const begun = yield* Instant.now
        const at = Instant.fromMicros(begun - (begun % FOLD_EVERY))
        const folded = served.today?.at === at ? served.today : yield* history.foldToday(sources, at)
        const today = yield* withNeverReported(sources, history.page, folded)
        served.today = today
        if (!history.isWhole(today)) {
          if (!isRunning(served.folding))
            served.folding = yield* Effect.forkIn(Effect.ignore(foldEnded(name, served, today)), scope)
          yield* Effect.timeoutOption(Fiber.await(served.folding), PATIENCE)
        }
        served.readAt = yield* Instant.now
        const announcements = yield* readAnnouncements(storage, name)
        const { asOf, states } = yield* readStates(sources, history.page, today, announcements)
        assemble(name, served, { asOf, today, states, announcements })
        // Its readers make their answers of it in another turn.
        yield* Effect.yieldNow
      })

      const readOrKeep = (name: string, served: ServedPage) =>
        Effect.catchCause(read(name, served), (cause) =>
          Effect.suspend(() => {
            if (served.built?.isOutdated === true) return Effect.void
            served.built &&= { ...served.built, isOutdated: true }
            return Effect.annotateLogs(Effect.logWarning(NOT_RENEWED, cause), { page: name })
          }),
        )

      return {
        /** Where people reach the pages, if the settings name it: feeds need it. */
        publicUrl: () => publicUrlOf(rules),
        has: (name: string): boolean => pageOf(name) !== undefined,
        /** The page, read again if that is due. Readers at the same time wait for the same read. */
        find: Effect.fn("PublicPages.find")(function* (name: string): Effect.fn.Return<FoundPage> {
          const served = pageOf(name)
          if (served === undefined) return "unknown"
          const now = yield* Instant.now
          if (!isFresh(served, now) && !isRunning(served.reading)) {
            served.readAt = now
            served.reading = yield* Effect.forkIn(readOrKeep(name, served), scope)
          }
          if (isRunning(served.reading)) {
            const patience = served.built === undefined ? FIRST_PATIENCE : PATIENCE
            yield* Effect.timeoutOption(Fiber.await(served.reading), patience)
          }
          return served.built ?? { unreadyIn: served.history.page.lang ?? "en" }
        }),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(PublicPages, PublicPages.make)
}
