import type { ExpectedCheck } from "@tocsin/contract/Expectations"
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

/** Where a refusal names a check of the declaration, by its place. */
const PLACE = /\bchecks\[(\d+)\]\.?/

/**
 * The checks that an agent declares. The server takes all of a declaration or nothing, so a check that
 * it refuses by name is left out, and the others are declared. Where it refuses `incident`, none states it.
 */
export class Schedule {
  readonly #expected: ReadonlyArray<ExpectedCheckText>
  readonly #leftOut = new Map<string, string>()
  #isWithoutIncident = false
  /** Whether the next declaration begins with all checks again: the server may take them by then. */
  #isSettled = false

  constructor(expected: ReadonlyArray<ExpectedCheckText>) {
    this.#expected = expected
  }

  /** The body of the next declaration. */
  declaration(): string {
    if (this.#isSettled) {
      this.#leftOut.clear()
      this.#isWithoutIncident = false
    }
    this.#isSettled = false
    return JSON.stringify({ complete: true, checks: this.#sent() })
  }

  /** Takes the answer to the declaration. Whether to declare the other checks now. */
  learn({ verdict, message }: Answer): boolean {
    if (verdict === "invalid" && INCIDENT.test(message)) {
      this.#isWithoutIncident = true
      return true
    }
    const check = verdict === "invalid" ? this.#sent()[Number(PLACE.exec(message)?.[1] ?? -1)] : undefined
    if (check !== undefined) this.#leftOut.set(check.check_id, message.replace(PLACE, ""))
    this.#isSettled = check === undefined || this.#leftOut.size >= MAX_LEFT_OUT
    return !this.#isSettled
  }

  /** The server's refusals of the schedule; empty where it takes all or has not judged it. */
  refused({ verdict, message }: Answer): string {
    const named = [...this.#leftOut].map(([id, why]) => `${id}: ${why}`)
    const isWhole = named.length === 0 && verdict === "invalid" && !INCIDENT.test(message)
    return (isWhole ? [message] : named).join("; ")
  }

  #sent(): ReadonlyArray<ExpectedCheckText> {
    const sent = this.#expected.filter(({ check_id: id }) => !this.#leftOut.has(id))
    return this.#isWithoutIncident ? sent.map(({ incident: _, ...check }) => check) : sent
  }
}
