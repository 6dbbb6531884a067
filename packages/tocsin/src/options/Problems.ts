import { unknownOptions } from "@tocsin/core/contract/nearestName"
import { Duration, Option, Schema } from "effect"

type Unit = "second" | "seconds" | "minute" | "minutes" | "hour" | "hours" | "day" | "days"

/** A length of time: `"5 minutes"`, or a number of milliseconds. */
export type DurationOption = number | `${number} ${Unit}`

/** A token bucket: so many a minute, and so many at once. */
export interface RateOption {
  readonly perMinute: number
  readonly burst: number
}

/** Reads options and gathers all that is wrong with them, a sentence each. */
export class Problems {
  readonly #sentences: Array<string> = []

  /** All of it so far, a line each; nothing where all is well. */
  get message(): string | undefined {
    return this.#sentences.length === 0 ? undefined : this.#sentences.join("\n")
  }

  /** The same, each by itself. */
  get sentences(): ReadonlyArray<string> {
    return this.#sentences
  }

  /** Notes what is wrong. */
  add(sentence: string): void {
    this.#sentences.push(sentence)
  }

  /** Names that are no options, at their path; `path` ends before the name. What is no object is noted elsewhere. */
  unknown(path: string, value: unknown, known: ReadonlyArray<string>): void {
    this.#sentences.push(...unknownOptions(path, value, known))
  }

  /** An object of options, empty where there is none. */
  group<Options extends object>(
    name: string,
    value: Options | undefined,
    known: Readonly<Record<keyof Options, true>>,
  ): Partial<Options> {
    if (value === undefined) return {}
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.add(`${name} must be an object of options`)
      return {}
    }
    this.unknown(`${name}.`, value, Object.keys(known))
    return value
  }

  /** A time longer than nothing. */
  duration(name: string, value: DurationOption | undefined): Duration.Duration | undefined {
    if (value === undefined) return undefined
    const duration = Option.getOrUndefined(Duration.fromInput(value))
    if (duration !== undefined && Duration.isFinite(duration) && Duration.isPositive(duration))
      return duration
    this.add(`${name} must be a time longer than nothing, such as "5 minutes" or a number of milliseconds`)
    return undefined
  }

  /** A rate; one that limits nothing for `false`. */
  rate(name: string, value: RateOption | false | undefined): RateOption | undefined {
    if (value === undefined) return undefined
    if (value === false) return { perMinute: 0, burst: 0 }
    this.unknown(`${name}.`, value, ["perMinute", "burst"])
    if (isRate(value)) return value
    this.add(`${name} must be { perMinute, burst } with integers from 1, or false for no limit`)
    return undefined
  }

  /** An integer from 0. */
  count(name: string, value: number | undefined): number | undefined {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return value
    this.add(`${name} must be an integer from 0`)
    return undefined
  }

  /** True or false. */
  flag(name: string, value: boolean | undefined): boolean | undefined {
    if (value === undefined || typeof value === "boolean") return value
    this.add(`${name} must be true or false`)
    return undefined
  }

  /** A text that is not empty. */
  text(name: string, value: string | undefined): string | undefined {
    if (value === undefined || isText(value)) return value
    this.add(`${name} must be a string that is not empty`)
    return undefined
  }

  /** Texts that all fit a pattern. None is repeated in what is said: they may be secrets. */
  texts(
    name: string,
    values: ReadonlyArray<string> | undefined,
    { pattern, expected }: { readonly pattern: RegExp; readonly expected: string },
  ): ReadonlyArray<string> {
    if (values === undefined) return []
    const fits = (value: unknown) => typeof value === "string" && pattern.test(value)
    if (Array.isArray(values) && values.every(fits)) return values
    this.add(`${name} must be an array of texts, each ${expected}`)
    return []
  }
}

/** Whether something is a text that is not empty. */
export const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const WholeFromOne = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))
const isRate = Schema.is(Schema.Struct({ perMinute: WholeFromOne, burst: WholeFromOne }))
