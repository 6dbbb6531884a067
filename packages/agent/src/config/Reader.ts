import { boundedMillis, durationExpected } from "@tocsin/contract/formats/durationMillis"
import { lineProblem, textProblem } from "@tocsin/contract/formats/lineProblem"

/** Something wrong with a configuration file. */
export interface Problem {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** Where in the document; empty for the document itself. */
  readonly path: string
  readonly message: string
}

/** A problem as people read it: `FILE:LINE: PATH MESSAGE`. */
export const problemText = ({ file, line, path, message }: Problem): string =>
  `${file}:${line}: ${path === "" ? message : `${path} ${message}`}`

/** Why the system does not read a file: the code of its error, or the error itself. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error)

/** The steps from the document to a part of it. */
export type Path = ReadonlyArray<string | number>

/** Where a value is, and how to complain about it. */
export interface Place {
  readonly path: Path
  readonly refuse: (message: string, path?: Path) => void
  /** The folder of the configuration, from which paths begin; absent where no file may be named. */
  readonly folder?: string
}

/** Reads a value; complains to its place and returns `undefined` where it cannot. */
export type Reader<A> = (value: unknown, place: Place) => A | undefined

const below = (place: Place, step: string | number): Place => ({ ...place, path: [...place.path, step] })

/** Complains about the value of a place. */
export const refused = (place: Place, message: string): undefined => {
  place.refuse(message, place.path)
  return undefined
}

interface Form {
  readonly max: number
  readonly form?: RegExp
  readonly expected?: string
}

/** A text of 1 to `max` characters without control characters, in a form if one is given. */
export const text =
  ({ max, form, expected }: Form): Reader<string> =>
  (value, place) => {
    if (typeof value !== "string") return refused(place, `must be ${expected ?? "a text"}: put it in quotes`)
    const length = [...value].length
    if (length < 1 || length > max) return refused(place, `must have 1 to ${max} characters`)
    const problem = lineProblem(value)
    if (problem !== undefined) return refused(place, problem)
    if (form !== undefined && !form.test(value))
      return refused(place, `must be ${expected ?? "in another form"}`)
    return value
  }

/** A text of any characters, as arguments and scripts have. */
export const anyText: Reader<string> = (value, place) => {
  if (typeof value !== "string") return refused(place, "must be a text: put it in quotes")
  const problem = textProblem(value)
  return problem === undefined ? value : refused(place, problem)
}

export const flag: Reader<boolean> = (value, place) =>
  typeof value === "boolean" ? value : refused(place, "must be true or false")

export const integer =
  ({ min, max }: { readonly min: number; readonly max: number }): Reader<number> =>
  (value, place) =>
    typeof value === "number" && Number.isInteger(value) && value >= min && value <= max
      ? value
      : refused(place, `must be an integer from ${min} to ${max}`)

/** A duration in milliseconds, from `1s` unless `min` says otherwise. */
export const duration =
  ({ max, min = "1s" }: { readonly max: string; readonly min?: string }): Reader<number> =>
  (value, place) => {
    const bounds = { min: boundedMillis(min), max: boundedMillis(max) }
    return boundedMillis(value, bounds) ?? refused(place, `must be ${durationExpected(bounds)}`)
  }

export const oneOf =
  <const A extends string>(...allowed: ReadonlyArray<A>): Reader<A> =>
  (value, place) =>
    allowed.find((one) => one === value) ?? refused(place, `must be one of ${allowed.join(", ")}`)

const all = <A>(read: ReadonlyArray<A | undefined>): ReadonlyArray<A> | undefined => {
  const there = read.filter((one) => one !== undefined)
  return there.length === read.length ? there : undefined
}

/** One value or a list of them. */
export const oneOrMore =
  <A>(reader: Reader<A>, max: number): Reader<ReadonlyArray<A>> =>
  (value, place) => {
    if (Array.isArray(value) && value.length >= 1 && value.length <= max)
      return all(value.map((one, index) => reader(one, below(place, index))))
    if (Array.isArray(value)) return refused(place, `must have 1 to ${max} entries`)
    const read = reader(value, place)
    return read === undefined ? undefined : [read]
  }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** YAML reads a key as null where all below it is a comment. */
const orEmpty = (value: unknown): unknown => value ?? {}

/** A map by names of one form. */
export const mapOf =
  <A>(reader: Reader<A>, { max, form, expected }: Required<Form>): Reader<ReadonlyMap<string, A>> =>
  (value, place) => {
    const given = orEmpty(value)
    if (!isObject(given)) return refused(place, "must be a map of names and values")
    const entries = Object.entries(given)
    if (entries.length > max) return refused(place, `must have at most ${max} entries`)
    const found = new Map<string, A>()
    for (const [name, one] of entries) {
      const at = below(place, name)
      if (!form.test(name)) at.refuse(`must have a name of ${expected}`, at.path)
      const read = reader(one, at)
      if (read !== undefined) found.set(name, read)
    }
    return found
  }

/** Reads the first of two forms that a value has by its type. */
export const objectOr =
  <A, B>(ofObjects: Reader<A>, ofOthers: Reader<B>): Reader<A | B> =>
  (value, place) =>
    typeof value === "object" && value !== null ? ofObjects(value, place) : ofOthers(value, place)

export type ReadBy<R> = R extends Reader<infer A> ? A : never

type Fields = Readonly<Record<string, Reader<unknown>>>

type Read<F extends Fields, Needed extends keyof F> = {
  readonly [K in Exclude<keyof F, Needed>]?: ReadBy<F[K]>
} & { readonly [K in Needed]: ReadBy<F[K]> }

/** A map with these keys and no others, of which some are required. */
export const record =
  <F extends Fields, Needed extends keyof F & string = never>(
    fields: F,
    required: ReadonlyArray<Needed> = [],
  ): Reader<Read<F, Needed>> =>
  (value, place) => {
    const given = orEmpty(value)
    if (!isObject(given)) return refused(place, `must be a map of ${Object.keys(fields).join(", ")}`)
    const found: Record<string, unknown> = {}
    for (const [name, one] of Object.entries(given)) {
      const at = below(place, name)
      const reader = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (reader === undefined) at.refuse(`is unknown: use one of ${Object.keys(fields).join(", ")}`, at.path)
      else found[name] = reader(one, at)
    }
    for (const name of required)
      if (!Object.hasOwn(given, name)) place.refuse(`must have ${name}`, place.path)
    // Each field was read by its own reader; a value with complaints is not used.
    return found as Read<F, Needed>
  }

/** A reader whose value is judged as a whole. */
export const checked =
  <A>(reader: Reader<A>, judge: (value: A, place: Place) => void): Reader<A> =>
  (value, place) => {
    const read = reader(value, place)
    if (read !== undefined) judge(read, place)
    return read
  }
