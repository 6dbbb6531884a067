import type { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { type ClaimInput, claimOutbox } from "@tocsin/core/heart/notifications/claimOutbox"
import { LEASE_EXPIRED, recordResults } from "@tocsin/core/heart/notifications/recordResults"
import { Effect } from "effect"

/** Claims due items as a process does, which then ends the claims whose lease has expired. Returns what to send. */
export const claimItems = Effect.fnUntraced(function* (
  { transact }: Pick<Commits["Service"], "transact">,
  { random = 0, ...input }: ClaimInput & { readonly random?: number },
) {
  const { expired, items } = yield* transact(claimOutbox(input))
  if (expired.length > 0)
    yield* transact(recordResults(expired.map((claim) => ({ claim, result: LEASE_EXPIRED, random }))))
  return items
})
