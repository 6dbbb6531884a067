import { type DurationOption, givenExpected, givenMillis } from "@tocsin/contract/formats/durationMillis"
import { unknownOptions } from "@tocsin/contract/formats/nearestName"
import { Duration, Record } from "effect"

/** Records a problem; its result stands for the invalid value. */
export type Complain = (problem: string) => undefined

/** Reads one option, whose name begins its problems. An absent one is `undefined`. */
export type Reader<Given, Read = Given> = (
  name: string,
  given: Given | undefined,
  complain: Complain,
) => Read | undefined

export const required =
  <Given>(holds: (given: unknown) => boolean, expected: string): Reader<Given> =>
  (name, given, complain) =>
    holds(given) ? given : complain(`${name} must be ${expected}`)

/** An option for which a rule holds, if it is given. */
export const checked = <Given>(holds: (given: unknown) => boolean, expected: string): Reader<Given> =>
  required((given) => given === undefined || holds(given), expected)

/** An option that is judged elsewhere. */
export const asGiven =
  <Given>(): Reader<Given> =>
  (_name, given) =>
    given

export const duration: Reader<DurationOption, Duration.Duration> = (name, given, complain) => {
  if (given === undefined) return undefined
  const millis = givenMillis(given)
  return millis === undefined ? complain(`${name} must be ${givenExpected()}`) : Duration.millis(millis)
}

export const flag = checked<boolean>((given) => typeof given === "boolean", "true or false")

/** An integer between two bounds. */
export const integer = (least: number, most = Infinity): Reader<number> =>
  checked(
    (given) => Number.isSafeInteger(given) && Number(given) >= least && Number(given) <= most,
    most === Infinity ? `an integer from ${least}` : `an integer from ${least} to ${most}`,
  )

export const isText = (given: unknown): given is string => typeof given === "string" && given !== ""
export const text = checked<string>(isText, "a string that is not empty")

/** Texts that fit a pattern. Problems repeat none of them: they may be secrets. */
export const texts = (pattern: RegExp, expected: string): Reader<ReadonlyArray<string>> =>
  checked(
    (given) => Array.isArray(given) && given.every((one) => typeof one === "string" && pattern.test(one)),
    `an array of texts, each ${expected}`,
  )

export const aFunction = <Given extends (...args: never) => unknown>(): Reader<Given> =>
  checked((given) => typeof given === "function", "a function")

export type Readers<Options> = {
  readonly [Name in keyof Options]-?: Reader<Exclude<Options[Name], undefined>, unknown>
}

type ReadBy<Each> = {
  readonly [Name in keyof Each]: Each[Name] extends Reader<never, infer Read> ? Read | undefined : never
}

/** Options in an object. Refuses other names. */
export const group =
  <Options extends object>() =>
  <Each extends Readers<Options>>(
    readers: Each,
    expected = "an object of options",
  ): Reader<Options, ReadBy<Each>> =>
  (name, given, complain) => {
    if (given === undefined) return undefined
    // An array or a text has its elements as fields.
    if (typeof given !== "object" || given === null || Symbol.iterator in given)
      return complain(name === "" ? "the options must be in an object" : `${name} must be ${expected}`)
    const path = name === "" ? "" : `${name}.`
    for (const problem of unknownOptions(path, given, Object.keys(readers))) complain(problem)
    // Each reader gets the option of its name.
    const values = given as Readonly<Record<string, never>>
    return Record.map(readers as Readonly<Record<string, Reader<never, unknown>>>, (read, option) =>
      read(path + option, values[option], complain),
    ) as ReadBy<Each>
  }
