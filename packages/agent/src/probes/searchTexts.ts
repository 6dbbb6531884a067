import { type Context, createContext, Script } from "node:vm"
import { refused, type Reader } from "../config/Reader.ts"

/** A pattern that backtracks can take hours, and nothing else runs meanwhile. */
const LONGEST_SEARCH_MILLIS = 500

const patternOf = (written: string): RegExp => new RegExp(written, "mu")

/** A regular expression of JavaScript, with the flags `u` and `m`. */
export const pattern: Reader<string> = (value, place) => {
  if (typeof value !== "string" || value === "")
    return refused(place, "must be a regular expression in quotes")
  try {
    patternOf(value)
    return value
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return refused(place, `must be a regular expression (${why})`)
  }
}

let search: { readonly script: Script; readonly context: Context } | undefined

/** Which of the texts a pattern matches; `undefined` if the search takes too long. */
export const searchTexts = (
  written: string,
  texts: ReadonlyArray<string>,
): ReadonlyArray<boolean> | undefined => {
  search ??= { script: new Script("texts.map((text) => pattern.test(text))"), context: createContext() }
  const { script, context } = search
  const before = process.cpuUsage()
  try {
    // Only a script of a context can be ended from outside.
    Object.assign(context, { pattern: patternOf(written), texts })
    for (;;) {
      const found = foundIn(script, context)
      // On a busy host, others may have had the time.
      if (found !== undefined || process.cpuUsage(before).user >= LONGEST_SEARCH_MILLIS * 1_000) return found
    }
  } finally {
    Object.assign(context, { texts: [] })
  }
}

const foundIn = (script: Script, context: Context): ReadonlyArray<boolean> | undefined => {
  try {
    return script.runInContext(context, { timeout: LONGEST_SEARCH_MILLIS })
  } catch (error) {
    // An error of the context is no instance of this one's Error.
    const isObject = typeof error === "object" && error !== null
    if (isObject && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined
    throw error
  }
}

export const tooSlow = (written: string): string =>
  `/${written}/ takes longer than ${LONGEST_SEARCH_MILLIS} ms of processor time: write a pattern that backtracks less`
