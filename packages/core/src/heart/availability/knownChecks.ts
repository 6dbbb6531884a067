import { Effect } from "effect"
import { comparing } from "../../kernel/engine/comparing.ts"
import type { ListReads, Pages } from "../../kernel/engine/lists/readPage.ts"
import { type CheckRef, findByCheck } from "../../kernel/model/CheckRef.ts"
import type { PageRequest } from "../../lists/ListDefinitions.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"
import type { ExpectationRecord } from "../model/ExpectationRecord.ts"

/** A check that has reported, or that is late and never did: it then counts from when it was expected. */
export type KnownCheck = CheckRef &
  Pick<CheckRecord, "received_at"> &
  Partial<Pick<CheckRecord, "status" | "incident_key" | "withdrawn_at" | "is_of_place">>

/** The order of lists of checks. */
export const byName = comparing<CheckRef>(
  (check) => check.agent_id,
  (check) => check.check_id,
)

const fromExpectation = ({
  agent_id,
  check_id,
  expected_from,
  registration_id,
}: ExpectationRecord): KnownCheck => ({ agent_id, check_id, registration_id, received_at: expected_from })

/** Pages of the checks that are late and never reported (docs/rules.md#late-checks). */
export const neverReported = (storage: ListReads): Pages<"checks", KnownCheck> => ({
  orderOf: storage.orderOf,
  page: ({ filter, ...request }: PageRequest<"checks">) =>
    Effect.map(
      storage.page<"overdue">({ ...request, list: "overdue", filter: { ...filter, neverReported: true } }),
      (rows) => rows.map(fromExpectation),
    ),
})

/** Pages of the checks that have reported, and of those that are late without having done so, by name. */
export const knownChecks = (storage: ListReads): Pages<"checks", KnownCheck> => {
  const late = neverReported(storage)
  return {
    orderOf: storage.orderOf,
    page: Effect.fnUntraced(function* (request: PageRequest<"checks">) {
      const more = yield* late.page(request)
      const reported: ReadonlyArray<KnownCheck> = yield* storage.page(request)
      if (more.length === 0) return reported
      const nameOf = ({ agent_id, check_id }: KnownCheck) => `${agent_id}/${check_id}`
      const named = new Map([...more, ...reported].map((check) => [nameOf(check), check]))
      const inOrder = Array.from(named.values()).toSorted(byName)
      return (request.isBackward ? inOrder.toReversed() : inOrder).slice(0, request.limit)
    }),
  }
}

export const findKnown = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  refs: ReadonlyArray<CheckRef>,
): Effect.fn.Return<(check: CheckRef) => KnownCheck | undefined, StorageError> {
  const reported = findByCheck(refs.length === 0 ? [] : yield* storage.checks(refs))
  const others = refs.filter((ref) => reported(ref) === undefined)
  const expected = others.length === 0 ? [] : yield* storage.rows("expectation", others)
  const late = findByCheck(expected.filter(({ incident_id }) => incident_id !== undefined))
  return (check) => {
    const row = reported(check) === undefined ? late(check) : undefined
    return row === undefined ? reported(check) : fromExpectation(row)
  }
})
