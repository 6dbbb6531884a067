import { Schema } from "effect"
import { DurationText } from "../formats/DurationText.ts"
import { named, optional } from "../formats/Fields.ts"
import { Language } from "../languages/Language.ts"
import { match, tz } from "../labels/policyFields.ts"
import { isPlainText } from "../formats/Text.ts"

export const MOST_PAGES = 20
/** Of one page, in all its groups. */
export const MOST_LINES = 200
/** Of one line: the first ones by name count. */
export const MOST_LINE_CHECKS = 200

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/u
export const PAGE_NAME_RULE = "1 to 63 lower-case letters, digits or -, not beginning with -"

export const PageName = Schema.String.check(Schema.isPattern(NAME, { expected: PAGE_NAME_RULE }))

const title = Schema.String.check(isPlainText({ min: 1, max: 100 }))

/** One service of a page: the worst of its checks. */
export const PageLine = Schema.Struct({
  name: title.annotate({ description: "What readers call it." }),
  id: optional(
    Schema.String.check(Schema.isPattern(NAME, { expected: PAGE_NAME_RULE })),
    "Its name in addresses and announcements; made of its name unless given.",
  ),
  match,
}).annotate(named("PageLine", "One service of a page: it has the worst state of its checks."))
export type PageLine = typeof PageLine.Type

const LINES_RULE = { expected: `a list of 1 to ${MOST_LINES} lines` }

/** A page that everyone may read (docs/rules.md#public-pages). */
export const PublicPage = Schema.Struct({
  title,
  tz: Schema.optionalKey(tz.annotate({ description: "Its days are those of this zone; UTC by default." })),
  lang: Schema.optionalKey(Language).annotateKey({
    description: "The language of its words, dates and numbers; that of the policy by default.",
  }),
  groups: Schema.NonEmptyArray(
    Schema.Struct({
      title,
      lines: Schema.NonEmptyArray(PageLine).check(Schema.isMaxLength(MOST_LINES, LINES_RULE)),
    }),
  ).check(Schema.isMaxLength(MOST_LINES, { expected: `a list of 1 to ${MOST_LINES} groups` })),
  history: optional(
    DurationText({ min: "1 day", max: "180 days" }),
    "How many days its bars show: whole days, 90d by default.",
  ),
  announce: Schema.optionalKey(Schema.Literal("respond")).annotateKey({
    description: "Whether operators who may respond also announce; only those who administer by default.",
  }),
}).annotate(named("PublicPage", "A page at /status/NAME that everyone may read."))
export type PublicPage = typeof PublicPage.Type

/** The name of a line in addresses and announcements; empty if its name has neither letter nor digit of ASCII. */
export const lineIdOf = ({ id, name }: Pick<PageLine, "id" | "name">): string =>
  id ??
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .replaceAll(/^-|-$/gu, "")

/** The lines of a page in its order, each with its id and where it is written. */
export const linesOf = ({ groups }: Pick<PublicPage, "groups">) =>
  groups.flatMap(({ lines }, group) =>
    lines.map((line, n) => ({ line, id: lineIdOf(line), path: ["groups", group, "lines", n] as const })),
  )

/** The states of a line, the worst first. */
export const LINE_STATES = ["down", "degraded", "maintenance", "operational", "no_data"] as const
export type LineState = (typeof LINE_STATES)[number]

/** The bar of one day. */
export interface PageDay {
  /** By the calendar of the page. */
  readonly date: string
  /** The worst of the day, and how long it lasted in all; a minute that has begun counts. */
  readonly state: LineState
  readonly minutes: number
}

/** An announcement as everyone may read it. */
export interface ShownAnnouncement {
  readonly id: string
  readonly kind: "incident" | "maintenance" | "notice"
  readonly title: string
  readonly text: string
  readonly state: "scheduled" | "open" | "ended"
  readonly lines: ReadonlyArray<string>
  readonly starts_at: string
  readonly ends_at: string | null
  readonly updates: ReadonlyArray<{ readonly at: string; readonly text: string }>
}

/** The body of `/status/NAME.json`. */
export interface PublicPageBody {
  readonly title: string
  /** The worst of its lines. */
  readonly state: LineState
  readonly as_of: string
  readonly groups: ReadonlyArray<{
    readonly title: string
    readonly lines: ReadonlyArray<{
      readonly name: string
      readonly id: string
      readonly state: LineState
      /** Of all days, in percent, cut to three decimals; null without data. */
      readonly availability: number | null
      readonly days: ReadonlyArray<PageDay>
    }>
  }>
  /** Open ones first, by kind; then those to come, then the latest ended. */
  readonly announcements: ReadonlyArray<ShownAnnouncement>
}
