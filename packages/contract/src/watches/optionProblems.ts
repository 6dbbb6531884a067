import { boundedMillis } from "../formats/durationMillis.ts"
import { valueProblem } from "./ConditionValue.ts"
import type { Conditions, Expectation } from "./conditions.ts"
import { BOUNDS } from "./watchOptions.ts"

/** Something wrong with the options of a probe: its place, and the sentence without its subject. */
export interface OptionProblem {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

const POINTER = /^(?:\/(?:[^~]|~[01])*)?$/s
/** The name of a header field. */
export const HEADER_NAME = { form: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, expected: "letters, digits and -" }

const statusProblem = (one: number | string): string | undefined => {
  if (typeof one === "number")
    return Number.isInteger(one) && one >= BOUNDS.status.min && one <= BOUNDS.status.max
      ? undefined
      : STATUS_RULE
  const [, low, high] = /^([1-5]\d\d)-([1-5]\d\d)$/.exec(one) ?? []
  if (low === undefined || high === undefined) return STATUS_RULE
  return Number(low) <= Number(high) ? undefined : "must begin with its lower end"
}
export const STATUS_RULE = 'must be a number from 100 to 599, or a range such as "300-399"'

const conditionProblems = (
  { header = {}, json = {}, not_text, status = [], text }: Conditions,
  ...path: ReadonlyArray<string>
): ReadonlyArray<OptionProblem> => {
  const values = Object.entries({ header, json }).flatMap(([of, all]) =>
    Object.entries(all).flatMap(([name, written]) => {
      const isName = of === "json" ? POINTER.test(name) : HEADER_NAME.form.test(name)
      const rule =
        of === "json" ? "must be a JSON Pointer, such as /data/0/state" : "must be the name of a header field"
      const message = isName ? valueProblem(written) : rule
      return message === undefined ? [] : [{ path: [...path, of, name], message }]
    }),
  )
  const contradicts = text !== undefined && not_text !== undefined && text.includes(not_text)
  return [
    ...status.flatMap((one, n) => {
      const message = statusProblem(one)
      return message === undefined ? [] : [{ path: [...path, "status", n], message }]
    }),
    ...values,
    ...(contradicts
      ? [{ path: [...path, "not_text"], message: "stands in text, so both never hold: remove one of them" }]
      : []),
  ]
}

/** The options that rules of more than one of them judge. A time is in milliseconds or a text such as `800ms`. */
export interface JudgedOptions {
  readonly method?: string | undefined
  readonly body?: unknown
  readonly auth?: { readonly bearer?: unknown; readonly basic?: { readonly user?: unknown } } | undefined
  readonly headers?: ReadonlyMap<string, unknown> | Readonly<Record<string, unknown>> | undefined
  readonly status?: unknown
  readonly text?: unknown
  readonly pattern?: unknown
  readonly expect?: unknown
  readonly warning?: unknown
  readonly critical?: unknown
  readonly time?: { readonly warning?: unknown; readonly critical?: unknown } | undefined
  readonly loss?: { readonly warning?: unknown; readonly critical?: unknown } | undefined
  readonly host?: unknown
}

const millisOf = (given: unknown): number => boundedMillis(given) ?? Number(given)

const searched = (wanted: Conditions): ReadonlyArray<string> =>
  (["text", "not_text", "json"] as const).filter((name) => wanted[name] !== undefined)

const NO_PAGE = "searches a page, and HEAD asks for none: use method: GET"

const pageProblems = (options: JudgedOptions): ReadonlyArray<OptionProblem> => {
  const { auth, body, headers = {}, method = "GET" } = options
  const isHead = method === "HEAD"
  // Other kinds have a text or a list.
  const { warning, ...critical }: Expectation = Object(options.expect)
  const names = headers instanceof Map ? Array.from(headers.keys()) : Object.keys(headers)
  const hasField = names.some((name) => String(name).toLowerCase() === "authorization")
  const found: Array<OptionProblem> = []
  const blame = (message: string, ...path: ReadonlyArray<string>): void => void found.push({ path, message })
  for (const name of ["status", "text"] as const)
    if (options[name] !== undefined && critical[name] !== undefined)
      blame(`stands in ${name} too: remove one of them`, "expect", name)
  if (isHead) {
    for (const name of ["text", "pattern"] as const) if (options[name] !== undefined) blame(NO_PAGE, name)
    for (const name of searched(critical)) blame(NO_PAGE, "expect", name)
    for (const name of searched(warning ?? {})) blame(NO_PAGE, "expect", "warning", name)
  }
  if (body !== undefined && (method === "GET" || isHead))
    blame("needs a method that sends one, such as POST", "body")
  if (auth !== undefined && Object.keys(auth).length !== 1) blame("must have either bearer or basic", "auth")
  if (auth !== undefined && hasField)
    blame("stands in headers as authorization too: remove one of them", "auth")
  const user = auth?.basic?.user
  if (typeof user === "string" && user.includes(":"))
    blame("must not contain a colon", "auth", "basic", "user")
  return [
    ...found,
    ...conditionProblems(critical, "expect"),
    ...(warning === undefined ? [] : conditionProblems(warning, "expect", "warning")),
  ]
}

const boundProblems = (name: "time" | "loss", options: JudgedOptions): ReadonlyArray<OptionProblem> => {
  const { critical = name === "loss" ? 100 : undefined, warning } = options[name] ?? {}
  if (warning === undefined || critical === undefined || millisOf(warning) <= millisOf(critical)) return []
  return [{ path: [name, "warning"], message: `must not be more than ${name}.critical` }]
}

/** The problems of a probe's options that no option has alone, and those of its conditions. */
export const optionProblems = (kind: string, options: JudgedOptions): ReadonlyArray<OptionProblem> => {
  const { critical, host, time, warning } = options
  const isTwice = kind !== "tls" && time !== undefined && (warning !== undefined || critical !== undefined)
  return [
    ...(kind === "http" ? pageProblems(options) : []),
    ...(isTwice
      ? [{ path: ["time"], message: "stands in warning or critical too: remove one of them" }]
      : []),
    ...boundProblems("time", options),
    ...boundProblems("loss", options),
    ...(kind === "ping" && typeof host === "string" && host.startsWith("-")
      ? [{ path: ["host"], message: "must not begin with -" }]
      : []),
  ]
}
