import { Duration, Result } from "effect"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { ExpectationsRequest, ExpectedCheck } from "@tocsin/contract/overdue/Expectations"
import type { Severity } from "@tocsin/contract/formats/Status"
import { problemIf, type Problems } from "./problemsAt.ts"
import { scheduleProblems } from "./Schedule.ts"
import type { Terms } from "../model/ExpectationRecord.ts"

/** Whether a declared check has labels alone, and need not report. */
const isLabelledOnly = ({
  labels,
  notifications_enabled,
  ...terms
}: Omit<ExpectedCheck, "check_id">): boolean =>
  labels !== undefined && notifications_enabled && Object.values(terms).every((value) => value === undefined)

/** Terms as a declaration or a rule of the policy gives them. */
type GivenTerms = Omit<ExpectedCheck, "check_id" | "labels" | "notifications_enabled">

const EVERY_TO_AFTER = 3
const MARGIN = Duration.seconds(30)
const GRACE = Duration.hours(1)

/** The shortest time without a result that may make a check overdue. */
export const shortestAfter = (staleAfter: Duration.Duration): Duration.Duration =>
  Duration.sum(staleAfter, MARGIN)

/** Stands for a time zone that is missing, which is a fault of that field alone. */
const ANY_ZONE = "UTC"

/** The faults of terms that need no settings to judge. */
export const termsProblems = ({ after, cron, every, grace, tz }: GivenTerms): Problems => {
  const [hasCron, hasEvery, hasZone] = [cron !== undefined, every !== undefined, tz !== undefined]
  return [
    ...problemIf(hasEvery === hasCron, "must have every or cron, one of them"),
    ...problemIf(!hasCron && hasZone, "must be absent without cron", "tz"),
    ...problemIf(hasCron && !hasZone, "must be given with cron", "tz"),
    ...(cron === undefined ? [] : scheduleProblems({ cron, tz: tz ?? ANY_ZONE })),
    ...problemIf(hasCron && after !== undefined, "must be absent with cron: grace takes its place", "after"),
    ...problemIf(
      hasEvery && grace !== undefined,
      "must be absent with every: after takes its place",
      "grace",
    ),
  ]
}

const afterProblems = ({ after }: GivenTerms, staleAfter: Duration.Duration): Problems => {
  const shortest = shortestAfter(staleAfter)
  if (after === undefined || !Duration.isLessThan(after, shortest)) return []
  const seconds = Duration.toSeconds(shortest)
  const message = `must be at least ${seconds}s: with less, a host that falls silent is reported twice`
  return [{ message, path: ["after"] }]
}

/** The severity of a late check that states none: a job that did not run is a failure (docs/rules.md#late-checks). */
const usualSeverity = ({ cron }: GivenTerms): Severity => (cron === undefined ? "unknown" : "critical")

/** Terms without {@link termsProblems}, with their defaults. Raises an `after` that is too short. */
export const completeTerms = (
  given: GivenTerms & Pick<Terms, "notifications_enabled">,
  staleAfter: Duration.Duration,
  usual: Severity = usualSeverity(given),
): Terms => {
  const { cron, every, incident, notifications_enabled, severity, tz } = given
  const shortest = Duration.toMillis(shortestAfter(staleAfter))
  const common = {
    severity: severity ?? usual,
    ...(severity !== undefined && ({ is_severity_stated: true } as const)),
    notifications_enabled,
    ...(incident !== undefined && { incident }),
  }
  if (every !== undefined) {
    const every_millis = Duration.toMillis(every)
    const after = given.after === undefined ? EVERY_TO_AFTER * every_millis : Duration.toMillis(given.after)
    return { ...common, every_millis, after_millis: Math.max(after, shortest) }
  }
  const grace_millis = Duration.toMillis(given.grace ?? GRACE)
  const after_millis = Math.max(grace_millis, shortest)
  return {
    ...common,
    after_millis,
    grace_millis,
    ...(cron !== undefined && { cron }),
    ...(tz !== undefined && { tz }),
  }
}

/** A check of a declaration with its terms; without them, it has labels alone. */
export interface DeclaredCheck {
  readonly check_id: ExpectedCheck["check_id"]
  readonly terms: Terms | undefined
  readonly labels: ExpectedCheck["labels"]
}

const isAlone = (given: Omit<ExpectedCheck, "check_id">): boolean =>
  given.notifications_enabled && Object.values(given).every((value) => value === undefined || value === true)

/**
 * Every check of a declaration, or what is wrong with the first that cannot be. A list of all checks may name one
 * without terms.
 */
export const decideTerms = (
  { as_of, checks, complete }: ExpectationsRequest,
  staleAfter: Duration.Duration,
  usual?: Severity,
): Result.Result<ReadonlyArray<DeclaredCheck>, ValidationError> => {
  const seen = new Set<string>()
  const declared: Array<DeclaredCheck> = []
  if (as_of !== undefined && !complete)
    return Result.fail(new ValidationError({ message: "as_of must be absent unless complete is true" }))
  for (const [index, { check_id, ...given }] of checks.entries()) {
    const isLabelled = isLabelledOnly(given) || (as_of !== undefined && isAlone(given))
    const [problem] = [
      ...problemIf(seen.has(check_id), "must not be given twice", "check_id"),
      ...(isLabelled ? [] : termsProblems(given)),
      ...afterProblems(given, staleAfter),
    ]
    if (problem !== undefined) {
      const { message, path } = problem
      return Result.fail(
        new ValidationError({ message: `${fieldPath(["checks", index, ...path])} ${message}` }),
      )
    }
    seen.add(check_id)
    const terms = isLabelled ? undefined : completeTerms(given, staleAfter, usual)
    declared.push({ check_id, terms, labels: given.labels })
  }
  return Result.succeed(declared)
}
