import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { charactersOf } from "@tocsin/contract/publicPages/announcementTexts"
import type { PublicPageBody } from "@tocsin/contract/publicPages/PublicPages"
import type { BuiltPage } from "@tocsin/core/features/publicPages/PublicPages"
import { type Form, tagOf, versionOf } from "../../documents/StaticContent.ts"
import { statusBadge, statusFeed } from "./statusFeed.ts"
import { AS_OF, asOfHtml, PAGE_FIELDS, publicPageHtml } from "./publicPage.ts"

const compress = promisify(gzip)

export interface StatusAnswer {
  readonly fields: Readonly<Record<string, string>>
  readonly etag: string
  readonly plain: Buffer
  readonly gzip: Buffer
}

/** Status, header fields and bytes of an answer in a form. */
export const inForm = ({ fields, gzip: compressed, plain }: StatusAnswer, form: Form) => {
  if (form === "unchanged") return { status: 304, fields, bytes: undefined }
  return form === "gzip"
    ? { status: 200, fields: { ...fields, "content-encoding": "gzip" }, bytes: compressed }
    : { status: 200, fields, bytes: plain }
}

/** More bytes, compressed, leave out what is least needed: old announcements, details of days, old days. */
const MOST_BYTES = 60 * 1_024

/** Other pages may show them. */
const PUBLIC_FIELDS = {
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
} as const

const EVERY_FIELDS = { "cache-control": "public, max-age=15", vary: "accept-encoding" } as const

/** A text whose tag leaves the time out: it changes with each read, and nothing else may have. */
const answerOf = async (
  text: string,
  time: { readonly at: string; readonly text: string },
  fields: Readonly<Record<string, string>>,
): Promise<StatusAnswer> => {
  const plain = Buffer.from(text.replaceAll(time.at, () => time.text))
  const etag = tagOf(versionOf(text))
  return { fields: { ...fields, ...EVERY_FIELDS, etag }, etag, plain, gzip: await compress(plain) }
}

/** How much of a page is shown. */
interface Part {
  readonly announcements: number
  readonly hasDetails: boolean
  readonly days: number
}

/** Texts of more characters are not worth compressing: other requests wait meanwhile. */
const MOST_CHARACTERS = 262_144

/** How many of the first announcements are tried. */
const triedOf = (announcements: PublicPageBody["announcements"]): number => {
  let characters = 0
  const tooMany = announcements.findIndex((announcement) => {
    characters += charactersOf(announcement)
    return characters > MOST_CHARACTERS
  })
  return tooMany === -1 ? announcements.length : tooMany
}

/** A smaller part of a page; absent without a day of it. */
const smaller = (part: Part): Part | undefined => {
  const { announcements, days, hasDetails } = part
  if (announcements > 0) return { ...part, announcements: Math.floor(announcements / 2) }
  if (hasDetails) return { ...part, hasDetails: false }
  return days > 1 ? { ...part, days: Math.floor(days / 2) } : undefined
}

const cut = (body: PublicPageBody, { announcements, days }: Part): PublicPageBody => ({
  ...body,
  announcements: body.announcements.slice(0, announcements),
  groups: body.groups.map((group) => ({
    ...group,
    lines: group.lines.map((line) => ({ ...line, days: line.days.slice(-days) })),
  })),
})

/** The largest part of a page that fits. */
const fitting = async (
  { announcements, groups }: PublicPageBody,
  make: (part: Part) => Promise<StatusAnswer>,
): Promise<StatusAnswer> => {
  const days = Math.max(0, ...groups.flatMap(({ lines }) => lines.map((line) => line.days.length)))
  let part: Part = { announcements: triedOf(announcements), hasDetails: true, days }
  for (;;) {
    const answer = await make(part)
    const next = answer.gzip.length <= MOST_BYTES ? undefined : smaller(part)
    if (next === undefined) return answer
    part = next
  }
}

const JSON_AS_OF = JSON.stringify(AS_OF).slice(1, -1)
const FEED_TYPE = "application/atom+xml; charset=utf-8"

/** Makes one file of a page; absent if the page has no such file. `publicUrl` is that of the settings. */
const makeAnswer = (
  page: BuiltPage,
  file: string,
  publicUrl: string | undefined,
): Promise<StatusAnswer> | undefined => {
  const { body } = page
  const time = { at: AS_OF, text: asOfHtml(page) }
  if (file === "")
    return fitting(body, (part) => {
      const parts = { body: cut(body, part), hasDetails: part.hasDetails, hasFeed: publicUrl !== undefined }
      return answerOf(publicPageHtml(page, parts), time, PAGE_FIELDS)
    })
  if (file === ".json")
    return fitting(body, (part) => {
      const text = JSON.stringify({ ...cut(body, part), as_of: AS_OF })
      const fields = { ...PUBLIC_FIELDS, "content-type": "application/json" }
      return answerOf(text, { at: JSON_AS_OF, text: body.as_of }, fields)
    })
  if (file === ".atom") {
    if (publicUrl === undefined) return undefined
    const whole = { ...body, announcements: page.feed }
    const fields = { ...PUBLIC_FIELDS, "content-type": FEED_TYPE }
    return fitting(whole, ({ announcements }) =>
      answerOf(statusFeed(page, publicUrl, announcements), { at: AS_OF, text: body.as_of }, fields),
    )
  }
  const lines = body.groups.flatMap((group) => group.lines)
  const shown =
    file === "/badge.svg"
      ? { name: body.title, state: body.state }
      : lines.find(({ id }) => file === `/${id}.svg`)
  const fields = { ...PUBLIC_FIELDS, "content-type": "image/svg+xml" }
  return shown && answerOf(statusBadge(shown.name, shown.state, page.lang), time, fields)
}

/** The answers of a page by their files, each made once. */
const made = new WeakMap<BuiltPage, Map<string, Promise<StatusAnswer>>>()

/** The answer with a file of a page; absent if there is no such file. */
export const statusAnswer = (
  page: BuiltPage,
  file: string,
  publicUrl: string | undefined,
): Promise<StatusAnswer> | undefined => {
  const answers = made.get(page) ?? new Map()
  made.set(page, answers)
  const known = answers.get(file)
  if (known !== undefined) return known
  const making = makeAnswer(page, file, publicUrl)
  if (making === undefined) return undefined
  answers.set(file, making)
  // A failure reaches its callers, and the next call tries again.
  making.catch(() => answers.delete(file))
  return making
}
