import { type ExpectedCheck, MAX_EXPECTATIONS } from "@tocsin/contract/overdue/Expectations"
import type { Answer } from "./Answer.ts"

/** The first period that begins after `steady`: periods that were missed run once, not each. */
export const nextDue = (due: number, everyMillis: number, steady: number): number =>
  due > steady ? due : due + everyMillis * (1 + Math.floor((steady - due) / everyMillis))

/** The shortest and the longest period that the server accepts (docs/rules.md#expectations). */
const [SHORTEST_PERIOD_MILLIS, LONGEST_PERIOD_MILLIS] = [10_000, 31 * 86_400_000]

/** A period as the server accepts it. */
export const acceptedPeriod = (millis: number): number =>
  Math.min(LONGEST_PERIOD_MILLIS, Math.max(SHORTEST_PERIOD_MILLIS, millis))

/** A check that must report, as a declaration has it. */
export type ExpectedCheckText = typeof ExpectedCheck.Encoded

/** A refusal costs a request each: after this many, the rest waits for the next declaration. */
const MAX_LEFT_OUT = 20

/** Servers of before this field refuse it. */
const INCIDENT = /\bchecks\[\d+\]\.incident\b/

/** Older servers, and newer ones beside an older one, refuse lists of all checks. */
const AS_OF = /\bas_of\b/

/** Where a refusal names a check of the declaration, by its place. */
const PLACE = /\bchecks\[(\d+)\]\.?/

/**
 * The checks that an agent declares. The server takes all of a declaration or nothing, so a check that
 * it refuses by name is left out, and the others are declared. Where it refuses `incident`, none states it.
 * A list of all checks names a refused one without its terms, until the server refuses lists.
 */
export class Schedule {
  readonly #expected: ReadonlyArray<ExpectedCheckText>
  readonly #leftOut = new Map<string, string>()
  readonly #isList: boolean
  #isWithoutIncident = false
  #isWithoutList = false
  /** Whether the next declaration begins with all checks again: the server may take them by then. */
  #isSettled = false

  /** `isList`: these are all checks of the agent, of which the server withdraws those that a later list lacks. */
  constructor(expected: ReadonlyArray<ExpectedCheckText>, isList = false) {
    this.#expected = expected
    this.#isList = isList && expected.length <= MAX_EXPECTATIONS
  }

  /** The body of the next declaration, at this time in milliseconds. */
  declaration(now: number): string {
    if (this.#isSettled) {
      this.#leftOut.clear()
      this.#isWithoutIncident = false
      this.#isWithoutList = false
    }
    this.#isSettled = false
    const listed = this.#sendsList() && { as_of: new Date(now).toISOString() }
    return JSON.stringify({ complete: true, ...listed, checks: this.#sent() })
  }

  #sendsList(): boolean {
    return this.#isList && !this.#isWithoutList
  }

  /** Takes the answer to the declaration. Whether to declare the other checks now. */
  learn({ verdict, message }: Answer): boolean {
    if (verdict === "invalid" && INCIDENT.test(message)) {
      this.#isWithoutIncident = true
      return true
    }
    if (verdict === "invalid" && this.#sendsList() && AS_OF.test(message)) {
      this.#isWithoutList = true
      return true
    }
    const check = verdict === "invalid" ? this.#sent()[Number(PLACE.exec(message)?.[1] ?? -1)] : undefined
    const isRepeated = check !== undefined && this.#leftOut.has(check.check_id)
    if (check !== undefined) this.#leftOut.set(check.check_id, message.replace(PLACE, ""))
    this.#isSettled = check === undefined || isRepeated || this.#leftOut.size >= MAX_LEFT_OUT
    return !this.#isSettled
  }

  /** The server's refusals of the schedule; empty where it takes all or has not judged it. */
  refused({ verdict, message }: Answer): string {
    const named = [...this.#leftOut].map(([id, why]) => `${id}: ${why}`)
    const isOfField = INCIDENT.test(message) || (this.#isList && AS_OF.test(message))
    const isWhole = named.length === 0 && verdict === "invalid" && !isOfField
    return (isWhole ? [message] : named).join("; ")
  }

  #sent(): ReadonlyArray<ExpectedCheckText> {
    const sent = this.#expected.flatMap((check): ReadonlyArray<ExpectedCheckText> => {
      const { check_id } = check
      return this.#leftOut.has(check_id) ? (this.#sendsList() ? [{ check_id }] : []) : [check]
    })
    return this.#isWithoutIncident ? sent.map(({ incident: _, ...check }) => check) : sent
  }
}
