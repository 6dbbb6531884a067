/** Longest text of an output that leaves the system, in characters (docs/rules.md#incidents, docs/rules.md#notifiers). */
const FIRST_LINE_CHARACTERS = 512

/** UTF-16 units of a character. */
const MOST_UNITS = 2

/** The first line of an output, at most 512 characters; `undefined` where there is no text in it. */
export const firstLine = (output: string | undefined): string | undefined => {
  if (output === undefined) return undefined
  const end = output.search(/[\r\n]/)
  const line = end === -1 ? output : output.slice(0, end)
  if (line === "") return undefined
  // Most lines are short enough in UTF-16 units too, which spares splitting them into code points.
  if (line.length <= FIRST_LINE_CHARACTERS) return line
  // Of a longer one no more is split than is kept: a batch can hold a megabyte of them.
  return Array.from(line.slice(0, FIRST_LINE_CHARACTERS * MOST_UNITS))
    .slice(0, FIRST_LINE_CHARACTERS)
    .join("")
}
