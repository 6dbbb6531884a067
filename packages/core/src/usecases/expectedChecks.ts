import { Effect } from "effect"
import { type CheckRecord, type CheckRef, findByCheck } from "../model/CheckRecord.ts"
import type { ValidationError } from "@tocsin/contract/Errors"
import type { AgentId } from "@tocsin/contract/Identifiers"
import type { Labels } from "@tocsin/contract/Labels"
import type { Instant } from "@tocsin/contract/Instant"
import type { CheckState } from "@tocsin/contract/Resources"
import type { ListedStatus } from "@tocsin/contract/Status"
import { hasWords, isOfStatus, searchedOf } from "../engine/lists/arms.ts"
import { type Page, type PageParameters, readPage, startAt } from "../engine/lists/readPage.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { toCheckState } from "./toResources.ts"
import { dueOfStarts, dueTime } from "../overdue/dueTime.ts"
import { type ExpectationRecord, hasTerms, isWhileRunning } from "../model/ExpectationRecord.ts"

/** When a check must report next, if ever. */
const expectedAt = (
  expectation: ExpectationRecord | undefined,
  reportedAt: Instant | undefined,
): Instant | null => {
  if (!hasTerms(expectation)) return null
  const isLogAlone = isWhileRunning(expectation.terms) && dueOfStarts(expectation.terms) === undefined
  return isLogAlone ? null : dueTime(expectation, reportedAt)
}

/** A check as /ops/v1/checks shows it. */
export type ExpectedCheckState = Omit<CheckState, "status" | "last_observed_at"> & {
  readonly status: CheckState["status"] | null
  readonly last_observed_at: CheckState["last_observed_at"] | null
  readonly expected_at: Instant | null
  readonly is_overdue: boolean
  readonly labels: Labels
}

/** These checks, in their order, with what is known of each. */
const toExpectedChecks = (
  refs: ReadonlyArray<CheckRef>,
  checks: ReadonlyArray<CheckRecord>,
  expectations: ReadonlyArray<ExpectationRecord>,
): ReadonlyArray<ExpectedCheckState> => {
  const checkOf = findByCheck(checks)
  const expectationOf = findByCheck(expectations)
  return refs.map((ref) => {
    const check = checkOf(ref)
    const expectation = expectationOf(ref)
    const { agent_id, check_id } = ref
    const shown =
      check === undefined ? { agent_id, check_id, status: null, last_observed_at: null } : toCheckState(check)
    return {
      ...shown,
      expected_at: expectedAt(expectation, check?.received_at),
      is_overdue: expectation?.incident_id !== undefined,
      labels: expectation?.labels ?? {},
    }
  })
}

/** Filters and paging of checks with when they must report. */
export type ExpectedCheckParameters = PageParameters & {
  readonly agent_id?: AgentId | undefined
  /** Whether to list overdue checks only, those included that never reported. */
  readonly is_overdue: boolean
  readonly status?: ListedStatus | undefined
  readonly search?: string | undefined
  readonly from_agent?: AgentId | undefined
}

/** A page of checks with when they must report. */
export const expectedChecks = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  { agent_id, from_agent, is_overdue, search, status, ...parameters }: ExpectedCheckParameters,
): Effect.fn.Return<Page<ExpectedCheckState>, ValidationError | StorageError> {
  const order = { sort: "agent_id", direction: "asc" } as const
  const start = startAt("checks", agent_id === undefined ? from_agent : undefined)
  if (is_overdue) {
    const query = { ...order, list: "overdue", filter: { agent_id } } as const
    const found = yield* readPage(storage, sha256, query, parameters, start)
    const checks = yield* storage.checks(found.items)
    // Few checks are overdue.
    const items = toExpectedChecks(found.items, checks, found.items).filter(
      (check) => isOfStatus(status, check.status) && hasWords(search, searchedOf(check)),
    )
    return { ...found, items }
  }
  const query = { ...order, list: "checks", filter: { agent_id, search, status } } as const
  const found = yield* readPage(storage, sha256, query, parameters, start)
  const expectations = yield* storage.expectations(found.items)
  return { ...found, items: toExpectedChecks(found.items, found.items, expectations) }
})
