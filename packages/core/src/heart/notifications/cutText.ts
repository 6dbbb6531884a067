import type { TextForm } from "./readerTexts.ts"

const ELLIPSIS = "…"

/** How a text is fitted to its medium. */
export interface TextMedium {
  /** The longest text in UTF-16 units, escapes included. */
  readonly limit: number
  readonly escape: (text: string) => string
  /** How it is written; in full unless given. */
  readonly form?: TextForm
  /** How it writes the name of an incident; whole unless given. */
  readonly nameOf?: (name: string) => string
  /** Whether its messages have the links of a notification outside the text. */
  readonly hasLinks?: true
  /** Whether the lines of its digests have no links. */
  readonly hasNoLinks?: true
  /** Whether it shows the first line as a title, which stays before the line that says why a message comes. */
  readonly hasTitle?: true
  /** Whether its messages say that outside the text. */
  readonly hasWhy?: true
  /** Whether its messages have the details outside the text, or none. */
  readonly hasDetails?: true
  /** The most characters of an output in the details; 1,000 unless given. */
  readonly mostOutput?: number
  /** The most lines of it, where each line costs more than its text. */
  readonly mostLines?: number
  /** The beginning of each line of it, as the medium writes `> `. */
  readonly quote?: string
}

/** For media that give no character a meaning. */
export const plain = (text: string): string => text

/** The beginning of a text, or its end, in at most `length` UTF-16 units, without half a character. */
const partOf = (text: string, length: number, isEnd: boolean): string => {
  const part = isEnd ? text.slice(text.length - length) : text.slice(0, length)
  const isHalf = isEnd ? /^[\udc00-\udfff]/.test(part) : /[\ud800-\udbff]$/.test(part)
  if (!isHalf) return part
  return isEnd ? part.slice(1) : part.slice(0, -1)
}

/**
 * The longest beginning of `text`, or end, that has, escaped, at most `limit` UTF-16 units, with an ellipsis
 * if it is cut. Never cuts within a character or its escape.
 */
export const cutText = (
  text: string,
  {
    escape,
    isEnd = false,
    limit,
  }: { readonly limit: number; readonly escape: (text: string) => string; readonly isEnd?: boolean },
): string => {
  const whole = escape(text)
  if (whole.length <= limit) return whole
  // An escape may depend on its neighbours, so each candidate is escaped as a whole.
  const cut = (length: number): string => {
    const part = partOf(text, length, isEnd)
    return escape(isEnd ? `${ELLIPSIS}${part}` : `${part}${ELLIPSIS}`)
  }
  let fits = 0
  let tooLong = text.length + 1
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (cut(middle).length <= limit) fits = middle
    else tooLong = middle
  }
  const longest = cut(fits)
  return longest.length <= limit ? longest : ""
}
