export const QUOTED = String.raw`'((?:[^']|'')+)'`
/** A label without quotes around it; quotes are part of it, but for one at its beginning. */
export const PLAIN = String.raw`[^\s'"=|][^\s=|]*`
/** A word that is no number. A quoted label may contain what looks like one. */
export const OTHER = new RegExp(String.raw`\s*(?:${QUOTED}=\S*|"[^"]*"=\S*|\S+)`, "gyu")
const LABELLED = new RegExp(String.raw`^\s*(?:${QUOTED}|"[^"]*"|${PLAIN})=[^\s|]*$`, "u")

/** check_entropy of nagios-plugins-contrib 42 puts a space before it. */
const UNIT_WORD = /^\s*bytes$/u

/**
 * Whether what follows a `|` is performance data: it begins with a label and has no further bar, and fewer words lack
 * a label than have one, such as a text in place of a value. The last word is left out if it `isCut`.
 */
export const isPerformance = (text: string, isCut: boolean): boolean => {
  const words = (text.match(OTHER) ?? []).slice(0, isCut ? -1 : undefined)
  const bare = words.filter((word) => !LABELLED.test(word) && !UNIT_WORD.test(word))
  const isData = 2 * bare.length < (words.length || 1) && !bare.some((word) => word.includes("|"))
  return isData && LABELLED.test(words[0] ?? "a=")
}
