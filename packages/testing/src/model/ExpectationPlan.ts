import { CheckId } from "@tocsin/contract/formats/Identifiers"
import type { ExpectedCheck, ExpectedIncident } from "@tocsin/contract/overdue/Expectations"
import type { Severity } from "@tocsin/contract/formats/Status"
import { Duration } from "effect"
import * as fc from "fast-check"

/** A check that an agent declares: with seconds between two results, or else with a schedule. */
export interface ExpectationPlan<Check extends string> {
  readonly check: Check
  readonly every: number | undefined
  readonly severity: Severity
  /** Stated in half of the plans; else it goes by the schedule. */
  readonly incident: ExpectedIncident | undefined
  readonly silent: boolean
}

/** Declarations of some of these checks, none twice. */
export const expectationPlans = <const Check extends string>(
  checks: ReadonlyArray<Check>,
): fc.Arbitrary<ReadonlyArray<ExpectationPlan<Check>>> =>
  fc.uniqueArray(
    fc.record({
      check: fc.constantFrom(...checks),
      every: fc.option(fc.constantFrom(10, 60, 3_600), { nil: undefined, freq: 5 }),
      severity: fc.constantFrom<Severity>("unknown", "unknown", "critical", "warning"),
      incident: fc.option(fc.constantFrom<ExpectedIncident>("own", "agent"), { nil: undefined, freq: 1 }),
      silent: fc.boolean(),
    }),
    { maxLength: 3, selector: ({ check }) => check },
  )

/** The check as its agent declares it. */
export const expectationOf = ({
  check,
  every,
  incident,
  severity,
  silent,
}: ExpectationPlan<string>): ExpectedCheck => ({
  check_id: CheckId.make(check),
  ...(every === undefined
    ? { cron: "*/20 * * * *", tz: "Europe/Berlin", grace: Duration.minutes(1) }
    : { every: Duration.seconds(every) }),
  severity,
  ...(incident !== undefined && { incident }),
  notifications_enabled: !silent,
})
