import { septetsOf } from "@tocsin/core/heart/notifications/phoneLetters"

/** Three parts of a message of several: 153 septets each, or 67 UTF-16 units. A part ends before what needs two. */
export const MOST = { septets: 3 * 153, units: 3 * 67 }

/** The room that a part leaves in a message, counted as the whole is; negative if it is too long. */
const roomBeside = (part: string, whole = part): number =>
  septetsOf(whole) === undefined ? MOST.units - part.length : MOST.septets - (septetsOf(part) ?? part.length)

const ELLIPSIS = "..."
/** Less of a text says too little for a link to be worth its place. */
const SHORTEST = 40

/** The longest beginning of a text that fits with this end, which the whole text does not. */
const cutBefore = (end: string, text: string): string => {
  const characters = Array.from(text)
  let fits = 0
  let tooLong = characters.length
  const cut = (length: number) => characters.slice(0, length).join("") + ELLIPSIS + end
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (roomBeside(cut(middle)) >= 0) fits = middle
    else tooLong = middle
  }
  return cut(fits)
}

/** The most of a line that says why a message comes: septets, or UTF-16 units. */
const MOST_OF_WHY = { septets: 40, units: 20 }

/** That line, as the encoding of the whole message allows. */
const whyLine = (why: string, whole: string): string => {
  const most = septetsOf(why + whole) === undefined ? MOST_OF_WHY.units : MOST_OF_WHY.septets
  const lengthOf = (text: string) => (most === MOST_OF_WHY.units ? text.length : (septetsOf(text) ?? 0))
  let shown = why
  while (lengthOf(shown) > most)
    shown = `${Array.from(shown.replace(/\.\.\.$/u, ""))
      .slice(0, -1)
      .join("")}${ELLIPSIS}`
  return `${shown}\n`
}

/** Lines beside the text of a message. */
interface BesideText {
  /** Why it comes. */
  readonly why?: string | undefined
  /** Who acknowledged it, which stands behind the text. */
  readonly acknowledged?: string | undefined
}

const behind = (line: string | undefined): string => (line === undefined ? "" : `\n${line}`)

/**
 * A text and a link as one message of bounded length, behind a line that says why it comes. Only the text is cut. A
 * link that would leave too little of it is left out.
 */
export const smsText = (text: string, link: string | undefined, beside: BesideText = {}): string => {
  const { acknowledged, why } = beside
  const said = text.replaceAll("…", ELLIPSIS)
  const end = behind(acknowledged) + behind(link)
  const whole = why === undefined ? said : `${whyLine(why, said + end)}${said}`
  if (roomBeside(whole + end) >= 0) return whole + end
  const fitted = cutBefore(end, whole)
  return link === undefined || roomBeside(end, fitted) >= SHORTEST ? fitted : smsText(text, undefined, beside)
}
