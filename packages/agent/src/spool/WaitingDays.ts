import { fieldsOf, savedNote } from "./savedNote.ts"

/**
 * How long results have waited, in days that an agent ran. No clock's date decides it: a host's clock
 * is set, a server's can be wrong, and neither may cost a result.
 */
export interface WaitingDays {
  /** Of the day that is being counted. */
  readonly millis: number
  /** The last result in the spool at the end of each counted day, the earliest day first. */
  readonly lasts: ReadonlyArray<number>
}

const DAY_MILLIS = 86_400_000

/** As the spool remembers them; they are counted from the beginning where it does not. */
export const savedDays = (text: string | undefined): WaitingDays => {
  const note = savedNote(text)
  return isDays(note) ? note : { millis: 0, lasts: [] }
}

const isDays = (note: unknown): note is WaitingDays => {
  const { millis, lasts } = fieldsOf(note)
  return Number.isFinite(millis) && Array.isArray(lasts) && lasts.every(Number.isFinite)
}

/**
 * The days after some more time. Time between two looks ends one day at most, so that an agent that
 * could not run, and so could not send, drops nothing for that.
 */
export const daysAfter = (
  { millis, lasts }: WaitingDays,
  passed: { readonly millis: number; readonly last: number; readonly bound: number },
): WaitingDays =>
  millis + passed.millis < DAY_MILLIS
    ? { millis: millis + passed.millis, lasts }
    : { millis: 0, lasts: [...lasts, passed.last].slice(-passed.bound - 1) }

/** The last result that has waited for a number of whole days; 0 if none has. */
export const lastAfter = (days: number, { lasts }: WaitingDays): number => lasts.at(-days - 1) ?? 0
