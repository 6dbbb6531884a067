import { Result } from "effect"

/** The origins whose pages may read answers, as browsers name them; `*` for every page. */
export type AllowedOrigins = "*" | ReadonlyArray<string>

const EVERY = "*"
const TAKES = "origins such as https://dashboard.example, or * alone"

/** Origins of apps and extensions, which URL does not parse as such: capacitor://localhost. */
const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^\s/?#@,*]+$/

/** The fault of an origin; it completes "… must be origins, but …". */
const faultOf = (text: string): string | undefined => {
  if (text === EVERY) return "* allows every origin, so the others must go"
  if (text === "null") return "null is what any sandboxed page sends, so it names nobody"
  if (OTHER_SCHEME.test(text)) return undefined
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || text.includes("*")) return `${shown(text)} is none`
  return url.origin === text ? undefined : `${shown(text)} is not how browsers send it: write ${url.origin}`
}

const LONGEST_ECHO = 64
const shown = (text: string): string => JSON.stringify(text.slice(0, LONGEST_ECHO))

/**
 * Reads a list of origins; a failure completes "… must be". Origins are compared exactly, so each
 * must be written as browsers send it: in lower case, without a path, a final slash, or the default
 * port of its scheme.
 */
export const parseAllowedOrigins = (texts: ReadonlyArray<string>): Result.Result<AllowedOrigins, string> => {
  const [first, ...others] = texts
  if (first === undefined) return Result.fail(TAKES)
  if (first === EVERY && others.length === 0) return Result.succeed(EVERY)
  const fault = texts.map(faultOf).find((found) => found !== undefined)
  return fault === undefined ? Result.succeed(texts) : Result.fail(`${TAKES}; ${fault}`)
}
