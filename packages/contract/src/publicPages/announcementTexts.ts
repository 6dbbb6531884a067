import type { AnyWords } from "../languages/Languages.ts"
import { fill } from "../languages/Words.ts"
import type { PublicPageBody, ShownAnnouncement } from "./PublicPages.ts"

/** A moment as people of a time zone write it in the language of a locale. */
export const momentIn = (tz: string, locale = "en-GB") => {
  const format = new Intl.DateTimeFormat(locale, {
    timeZone: tz,
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  })
  // oxlint-disable-next-line eslint/no-restricted-globals -- reads a text, not the time, and browsers without Effect.
  return (at: string): string => format.format(new Date(at))
}

/** The characters of an announcement with its updates. */
export const charactersOf = ({
  text,
  updates,
}: {
  readonly text: string
  readonly updates: ReadonlyArray<{ readonly text: string }>
}): number => updates.reduce((sum, update) => sum + update.text.length, text.length)

type Times = Pick<ShownAnnouncement, "ends_at" | "starts_at" | "state">

/** Whether it ended before it began. */
export const isCalledOff = ({ ends_at, starts_at, state }: Times): boolean =>
  state === "ended" && ends_at !== null && ends_at < starts_at

/** When an announcement begins and ends, or why it does not. */
export const timesOf = (
  times: Times,
  moment: (at: string) => string,
  { page: words }: Pick<AnyWords, "page">,
): string => {
  const { ends_at, starts_at, state } = times
  const said = (text: string, at: string) => fill(text, { time: moment(at) })
  if (ends_at === null) return said(words.begins[state], starts_at)
  return isCalledOff(times)
    ? `${said(words.called_off, ends_at)} · ${said(words.planned_for, starts_at)}`
    : `${said(words.begins[state], starts_at)} · ${said(words.ends[state], ends_at)}`
}

/** The names of its lines, in one text if there are any. */
export const namesOf = (
  { lines }: Pick<ShownAnnouncement, "lines">,
  { groups }: Pick<PublicPageBody, "groups">,
): ReadonlyArray<string> => {
  const names = groups.flatMap((group) => group.lines.filter(({ id }) => lines.includes(id)))
  return names.length === 0 ? [] : [names.map(({ name }) => name).join(", ")]
}
