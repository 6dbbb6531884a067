import { Duration, Result } from "effect"
import type { AcknowledgeRequest } from "@tocsin/contract/Acknowledgements"
import { formatDuration } from "@tocsin/contract/DurationText"
import * as Instant from "@tocsin/contract/Instant"
import type { RuleOptions } from "../ports/RuleSettings.ts"

/** When an acknowledgement ends: at a moment, or so long after the moment at which it is recorded. */
export type AcknowledgedUntil = Instant.Instant | { readonly for: Duration.Duration }

/** The end of an acknowledgement that is recorded at a moment. */
export const endOf = (until: AcknowledgedUntil, at: Instant.Instant): Instant.Instant =>
  typeof until === "bigint" ? until : Instant.plus(at, until.for)

/** The end that a request asks for, within the settings (docs/rules.md#acknowledgements). */
export const acknowledgedUntil = (
  request: Pick<AcknowledgeRequest, "for" | "until">,
  rules: Pick<RuleOptions, "acknowledgedFor" | "longestAcknowledgement">,
  now: Instant.Instant,
): Result.Result<AcknowledgedUntil, string> => {
  if (request.for !== undefined && request.until !== undefined)
    return Result.fail("for and until exclude each other; give one of them")
  const until = request.until ?? { for: request.for ?? rules.acknowledgedFor }
  const end = endOf(until, now)
  if (end <= now) return Result.fail("until must be in the future")
  if (end > Instant.LATEST) return Result.fail("until must be before the year 10000")
  const longest = rules.longestAcknowledgement
  const field = request.until === undefined ? "for" : "until"
  return end > Instant.plus(now, longest)
    ? Result.fail(
        `${field} must not make the acknowledgement longer than ${formatDuration(longest)} (SERVICE_ACK_MAX, or longestAcknowledgement in a program); acknowledge again later`,
      )
    : Result.succeed(until)
}

/** The faults of acknowledgement lengths, one sentence each. */
export const acknowledgementProblems = ({
  acknowledgedFor,
  longestAcknowledgement,
}: Pick<RuleOptions, "acknowledgedFor" | "longestAcknowledgement">): ReadonlyArray<string> =>
  Duration.isGreaterThan(acknowledgedFor, longestAcknowledgement)
    ? ["acknowledgedFor must not be longer than longestAcknowledgement"]
    : []
