/** What a word is painted in, where colours are welcome. */
export type Colour = "green" | "yellow" | "red" | "magenta" | "dim"

const CODES: Readonly<Record<Colour, number>> = { green: 32, yellow: 33, red: 31, magenta: 35, dim: 2 }

/** `text` in a colour, as terminals understand it. */
export const paint = (text: string, colour: Colour): string => `\u001B[${CODES[colour]}m${text}\u001B[0m`

/** How words of the contract are painted: what is well, what is not, what needs somebody. */
const COLOUR_OF: ReadonlyMap<string, Colour> = new Map<string, Colour>([
  ["alive", "green"],
  ["ok", "green"],
  ["sent", "green"],
  ["stale", "yellow"],
  ["warning", "yellow"],
  ["retry", "yellow"],
  ["pending", "yellow"],
  ["attention", "yellow"],
  ["dead", "red"],
  ["critical", "red"],
  ["failed", "red"],
  ["unknown", "magenta"],
  ["resolved", "dim"],
  ["discarded", "dim"],
])

/** The colour of a state or severity; `undefined` for those that call for no attention either way. */
export const colourOf = (word: string): Colour | undefined => COLOUR_OF.get(word)
