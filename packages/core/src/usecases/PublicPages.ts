import { Context, Duration, Effect, Fiber, Layer } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { compileMatchers } from "@tocsin/contract/Matcher"
import { type LineState, linesOf, type PublicPage, type PublicPageBody } from "@tocsin/contract/PublicPages"
import { announcedMaintenance } from "../announcements/announcedMaintenance.ts"
import { readAnnouncements } from "../announcements/readAnnouncements.ts"
import type { Severity } from "@tocsin/contract/Status"
import { type CheckRecord, findByCheck } from "../model/CheckRecord.ts"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import type { Policy } from "../policy/compilePolicy.ts"
import { occurrenceInForce } from "../policy/occurrences.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Hashing } from "../ports/Hashing.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import type { LineCheck } from "../publicPages/lineChecks.ts"
import { stateNow, worstOf } from "../publicPages/lineStates.ts"
import { type FeedEntry, feedOf, pageBody, type ReadPage } from "../publicPages/pageBody.ts"
import { type FoldedToday, PageHistory } from "../publicPages/PageHistory.ts"

/** A page is read no more often. */
const READ_EVERY = Duration.seconds(15)
/** Today is folded until multiples of this. */
const FOLD_EVERY = 300_000_000n
/** So long, a reader waits for a newer page, or for the days of the first one. */
const PATIENCE = Duration.seconds(1)
/** So long, for the first page. */
const FIRST_PATIENCE = Duration.seconds(5)

/** A page as it is served. Another one is another object. */
export interface BuiltPage {
  readonly name: string
  readonly body: PublicPageBody
  /** All announcements that are kept. */
  readonly feed: ReadonlyArray<FeedEntry>
  readonly tz: string
  /** Whether a newer one could not be read. */
  readonly isOutdated: boolean
}

/** `unknown`: the policy has no such page. `unready`: none could be read yet. */
export type FoundPage = BuiltPage | "unknown" | "unready"

/** Whether a window in force covers a check, by its severity. */
const coveredNow = ({ windows }: Policy, now: Instant.Instant) => {
  const inForce = windows.flatMap((window) =>
    occurrenceInForce(window, now) === undefined ? [] : [compileMatchers(window.match)],
  )
  return ({ facts }: LineCheck) =>
    (severity: Severity) =>
      inForce.some((covers) => covers({ ...facts, severity }))
}

/** The states of the lines, by one read of their checks. */
const readStates = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  policy: Policy,
  page: PublicPage,
  { at, lines, silences }: FoldedToday,
  announcements: ReadPage["announcements"],
): Effect.fn.Return<Pick<ReadPage, "asOf" | "states">, StorageError> {
  // Lines may share checks.
  const checks = new Set(lines.flatMap((line) => line.checks))
  const recordOf = findByCheck<CheckRecord>(
    checks.size === 0 ? [] : yield* storage.checks(Array.from(checks)),
  )
  const now = yield* Instant.now
  const isCovered = coveredNow(policy, now)
  const stateOf = new Map<LineCheck, LineState>()
  for (const check of checks) {
    const record = recordOf(check)
    if (record === undefined) continue
    const state = stateNow(record, { at, silence: silences.get(check) }, isCovered(check), now)
    stateOf.set(check, state)
  }
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

/** The pages of the policy in force, each kept while the policy defines it so. */
const makePages = ({ current }: PolicyInForce["Service"]) => {
  const pages = new Map<string, ServedPage>()
  let document: PolicyDocument | undefined
  return (name: string): ServedPage | undefined => {
    const { document: present } = current()
    const { pages: defined = {}, windows } = present
    const keyOf = (page: PublicPage) => JSON.stringify([page, windows])
    if (document !== present) {
      document = present
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
export class PublicPages extends Context.Service<PublicPages>()("@tocsin/core/usecases/PublicPages", {
  make: Effect.gen(function* () {
    const storage = yield* Storage
    const { sha256 } = yield* Hashing
    const inForce = yield* PolicyInForce
    const scope = yield* Effect.scope
    const { publicUrl } = yield* RuleSettings
    const pageOf = makePages(inForce)

    const assemble = (name: string, served: ServedPage, read: ReadPage): void => {
      served.read = read
      const { history } = served
      const { tz = "UTC" } = history.page
      served.built = { name, tz, body: pageBody(history, read), feed: feedOf(read), isOutdated: false }
    }

    const foldEnded = Effect.fnUntraced(function* (name: string, served: ServedPage, today: FoldedToday) {
      yield* served.history.foldEnded({ storage, sha256, policy: inForce.current() }, today)
      if (served.read !== undefined) assemble(name, served, served.read)
    })

    const read = Effect.fnUntraced(function* (name: string, served: ServedPage) {
      const policy = inForce.current()
      const { history } = served
      const begun = yield* Instant.now
      const at = Instant.fromMicros(begun - (begun % FOLD_EVERY))
      const today =
        served.today?.at === at ? served.today : yield* history.foldToday({ storage, sha256, policy }, at)
      served.today = today
      if (!history.isWhole(today)) {
        if (!isRunning(served.folding))
          served.folding = yield* Effect.forkIn(Effect.ignore(foldEnded(name, served, today)), scope)
        yield* Effect.timeoutOption(Fiber.await(served.folding), PATIENCE)
      }
      served.readAt = yield* Instant.now
      const announcements = yield* readAnnouncements(storage, name)
      const { asOf, states } = yield* readStates(storage, policy, history.page, today, announcements)
      assemble(name, served, { asOf, today, states, announcements })
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
      publicUrl,
      has: (name: string): boolean => pageOf(name) !== undefined,
      /** Whether a page of the policy was read before. */
      isBuilt: (name: string): boolean => pageOf(name)?.built !== undefined,
      /** The page as it was read less than 15 s ago, if it was. */
      fresh: (name: string, now: Instant.Instant): BuiltPage | undefined => {
        const served = pageOf(name)
        return served !== undefined && isFresh(served, now) ? served.built : undefined
      },
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
        return served.built ?? "unready"
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(PublicPages, PublicPages.make)
}
