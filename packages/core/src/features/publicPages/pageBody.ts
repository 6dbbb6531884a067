import * as Instant from "@tocsin/contract/formats/Instant"
import type {
  LineState,
  PageDay,
  PublicPageBody,
  ShownAnnouncement,
} from "@tocsin/contract/publicPages/PublicPages"
import { AnnouncementKind } from "@tocsin/contract/publicPages/Announcements"
import { Duration } from "effect"
import { linesOf } from "@tocsin/contract/publicPages/PublicPages"
import { comparing } from "../../kernel/engine/comparing.ts"
import { type AnnouncementRecord, announcementState } from "./AnnouncementRecord.ts"
import type { FoldedDay } from "./LineFold.ts"
import { worstOf } from "./lineStates.ts"
import type { FoldedToday, PageHistory } from "./PageHistory.ts"

/** The parts of a page, as they were read. */
export interface ReadPage {
  readonly asOf: Instant.Instant
  readonly today: FoldedToday
  /** The state of each line, in the order of the page. */
  readonly states: ReadonlyArray<LineState>
  /** All that have not ended, and the latest that have. */
  readonly announcements: ReadonlyArray<AnnouncementRecord>
}

/** A page has the announcements that ended within this; its feed has all. */
const SHOWN_FOR = Duration.days(14)

const MINUTE = 60

const shownDay = (date: string, { seconds, state }: Pick<FoldedDay, "seconds" | "state">): PageDay => ({
  date,
  state,
  minutes: Math.ceil(seconds / MINUTE),
})

const shownAnnouncement = (
  record: AnnouncementRecord,
  at: Instant.Instant,
  isShown: (line: string) => boolean = () => true,
): ShownAnnouncement => ({
  id: record.id,
  kind: record.kind,
  title: record.title,
  text: record.text,
  state: announcementState(record, at),
  lines: record.lines.filter(isShown),
  starts_at: Instant.format(record.starts_at),
  ends_at: record.ends_at === undefined ? null : Instant.format(record.ends_at),
  updates: record.updates.map((update) => ({
    at: Instant.format(Instant.fromMicros(BigInt(update.at))),
    text: update.text,
  })),
})

const KINDS = AnnouncementKind.literals

/** Open announcements come first, by kind, the latest begun first; then those to come, the next first; then the latest ended. */
const inOrder = (announcements: ReadonlyArray<AnnouncementRecord>, at: Instant.Instant) =>
  announcements.toSorted(
    comparing(
      (record) => {
        const state = announcementState(record, at)
        return state === "open" ? KINDS.indexOf(record.kind) : state === "scheduled" ? KINDS.length : Infinity
      },
      ({ ends_at, starts_at }) =>
        ends_at !== undefined && ends_at <= at ? -ends_at : starts_at <= at ? -starts_at : starts_at,
      ({ id }) => id,
    ),
  )

/** An announcement of a feed, whose readers hide times to come. */
export interface FeedEntry extends ShownAnnouncement {
  readonly published: string
  /** When it last changed. */
  readonly updated: string
}

const changedAt = (
  { created_at, ends_at, starts_at, updates }: AnnouncementRecord,
  now: Instant.Instant,
): Instant.Instant =>
  [starts_at, ends_at ?? created_at, ...updates.map(({ at }) => Instant.fromMicros(BigInt(at)))].reduce(
    (latest, at) => (at > latest && at <= now ? at : latest),
    created_at,
  )

/** All announcements of a page, as its feed shows them. */
export const feedOf = ({
  announcements,
  asOf,
}: Pick<ReadPage, "announcements" | "asOf">): ReadonlyArray<FeedEntry> =>
  inOrder(announcements, asOf).map((record) => ({
    ...shownAnnouncement(record, asOf),
    published: Instant.format(record.created_at),
    updated: Instant.format(changedAt(record, asOf)),
  }))

/** In percent, cut to three decimals as that of a check (docs/rules.md#availability). */
const availabilityOf = (days: ReadonlyArray<FoldedDay>): number | null => {
  const judged = days.reduce((sum, day) => sum + day.judged, 0)
  const ok = days.reduce((sum, day) => sum + day.ok, 0)
  return judged === 0 ? null : Math.floor((ok * 100_000) / judged) / 1_000
}

/** The content of a page, and nothing else of what is monitored (docs/rules.md#public-pages). */
export const pageBody = (history: PageHistory, read: ReadPage): PublicPageBody => {
  const { page } = history
  const { announcements, asOf, states, today } = read
  const shown = linesOf(page).map(({ id, line: { name } }, n) => {
    const folded = [today.lines[n]?.today, ...history.daysOf(n, today.days)]
    const days = today.days.map(({ date }, day) =>
      shownDay(date, folded[day] ?? { state: "no_data", seconds: 0 }),
    )
    return {
      name,
      id,
      state: states[n] ?? "no_data",
      availability: availabilityOf(folded.filter((day) => day !== undefined)),
      days: days.toReversed(),
    }
  })
  const shownSince = Instant.minus(asOf, SHOWN_FOR)
  let next = 0
  return {
    title: page.title,
    state: worstOf(new Set(states)),
    as_of: Instant.format(asOf),
    groups: page.groups.map(({ lines, title }) => ({
      title,
      lines: shown.slice(next, (next += lines.length)),
    })),
    announcements: inOrder(announcements, asOf)
      .filter(({ ends_at }) => ends_at === undefined || ends_at > shownSince)
      // Lines that the page has no longer are no business of its readers.
      .map((record) => shownAnnouncement(record, asOf, (id) => shown.some((line) => line.id === id))),
  }
}
