import { Duration, Result } from "effect"
import type { AcknowledgeRequest } from "@tocsin/contract/Acknowledgements"
import { formatDuration } from "@tocsin/contract/DurationText"
import * as Instant from "@tocsin/contract/Instant"
import type { RuleOptions } from "../ports/RuleSettings.ts"

/** The end that a request asks for, within the settings (docs/rules.md#acknowledgements). */
export const acknowledgedUntil = (
  request: Pick<AcknowledgeRequest, "for" | "until">,
  rules: Pick<RuleOptions, "acknowledgedFor" | "longestAcknowledgement">,
  now: Instant.Instant,
): Result.Result<Instant.Instant, string> => {
  if (request.for !== undefined && request.until !== undefined)
    return Result.fail("for and until exclude each other; give one of them")
  const until = request.until ?? Instant.plus(now, request.for ?? rules.acknowledgedFor)
  if (until <= now) return Result.fail("until must be in the future")
  if (until > Instant.LATEST) return Result.fail("until must be before the year 10000")
  const longest = rules.longestAcknowledgement
  return until > Instant.plus(now, longest)
    ? Result.fail(
        `an acknowledgement must not last longer than ${formatDuration(longest)} (SERVICE_ACK_MAX, or longestAcknowledgement in a program); acknowledge again later`,
      )
    : Result.succeed(until)
}

/** What is wrong with the lengths of acknowledgements, one sentence each. */
export const acknowledgementProblems = ({
  acknowledgedFor,
  longestAcknowledgement,
}: Pick<RuleOptions, "acknowledgedFor" | "longestAcknowledgement">): ReadonlyArray<string> =>
  Duration.isGreaterThan(acknowledgedFor, longestAcknowledgement)
    ? ["acknowledgedFor must not be longer than longestAcknowledgement"]
    : []
