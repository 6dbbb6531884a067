import type { PublicPageBody, ShownAnnouncement } from "./PublicPages.ts"

export const KINDS = { incident: "Incident", maintenance: "Maintenance", notice: "Notice" } as const

/** A moment as people of a time zone write it. */
export const momentIn = (tz: string) => {
  const format = new Intl.DateTimeFormat("en-GB", {
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

const ENDS = { scheduled: "Ends", open: "Ends", ended: "Ended" } as const
const BEGINS = { scheduled: "Begins", open: "Since", ended: "From" } as const

export const timesOf = (times: Times, moment: (at: string) => string): string => {
  const { ends_at, starts_at, state } = times
  if (ends_at === null) return `${BEGINS[state]} ${moment(starts_at)}`
  return isCalledOff(times)
    ? `Called off ${moment(ends_at)} · Planned for ${moment(starts_at)}`
    : `${BEGINS[state]} ${moment(starts_at)} · ${ENDS[state]} ${moment(ends_at)}`
}

/** The names of its lines, in one text if there are any. */
export const namesOf = (
  { lines }: Pick<ShownAnnouncement, "lines">,
  { groups }: Pick<PublicPageBody, "groups">,
): ReadonlyArray<string> => {
  const names = groups.flatMap((group) => group.lines.filter(({ id }) => lines.includes(id)))
  return names.length === 0 ? [] : [names.map(({ name }) => name).join(", ")]
}
