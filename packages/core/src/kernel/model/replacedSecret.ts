import { Duration } from "effect"
import type { KeyHash } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"

/** The former secret after a rotation; none without one, or without a grace. */
export const formerSecret = (replaced: KeyHash | undefined, grace: Duration.Duration, now: Instant.Instant) =>
  replaced !== undefined && Duration.isPositive(grace)
    ? { hash: replaced, valid_until: Instant.plus(now, grace) }
    : undefined

/** Whether a hash is that of the present secret, or of a former one that is still valid. */
export const isValidSecret = (
  hash: KeyHash,
  now: Instant.Instant,
  {
    former,
    former_valid_until,
    present,
  }: {
    readonly present: KeyHash | undefined
    readonly former: KeyHash | undefined
    readonly former_valid_until: Instant.Instant | undefined
  },
): boolean =>
  present === hash || (former === hash && former_valid_until !== undefined && former_valid_until > now)
