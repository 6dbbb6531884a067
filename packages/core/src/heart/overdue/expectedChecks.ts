import { Effect } from "effect"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { ListedStatus, Severity, ShownState } from "@tocsin/contract/formats/Status"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { CheckState } from "@tocsin/contract/v1/Resources"
import {
  matchingPages,
  type Page,
  type PageParameters,
  readPage,
  startAt,
} from "../../kernel/engine/lists/readPage.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import type { CheckLabelRecord } from "../model/CheckLabelRecord.ts"
import { type CheckRecord, toCheckState } from "../model/CheckRecord.ts"
import { type CheckName, type CheckRef, findByCheck } from "../../kernel/model/CheckRef.ts"
import type { ExpectationRecord } from "../model/ExpectationRecord.ts"
import { declaredLabels, titleOf } from "../model/titles.ts"
import { dueTime } from "./dueTime.ts"
import { shownState } from "./shownState.ts"

export type ExpectedCheckState = Omit<CheckState, "status" | "last_observed_at"> & {
  readonly state: ShownState | null
  readonly status: CheckState["status"] | null
  readonly last_observed_at: CheckState["last_observed_at"] | null
  readonly expected_at: Instant.Instant | null
  readonly late_severity: Severity | null
  readonly is_overdue: boolean
  readonly labels: Labels
  readonly title: string | null
}

/** A check with what is known of it. */
export const toExpectedCheck = (
  { agent_id, check_id }: CheckName,
  check: CheckRecord | undefined,
  expectation: ExpectationRecord | undefined,
  label: CheckLabelRecord | undefined,
): ExpectedCheckState => {
  const is_overdue = expectation?.incident_id !== undefined
  return {
    ...(check === undefined
      ? { agent_id, check_id, status: null, last_observed_at: null }
      : toCheckState(check)),
    state: shownState(check, { isLate: is_overdue }) ?? null,
    expected_at: expectation !== undefined ? dueTime(expectation, check?.received_at) : null,
    late_severity: expectation?.terms.severity ?? null,
    is_overdue,
    labels: (label && declaredLabels(label)) ?? {},
    title: titleOf(label?.labels) ?? null,
  }
}

/** These checks, in their order. */
const toExpectedChecks = (
  refs: ReadonlyArray<CheckRef>,
  checks: ReadonlyArray<CheckRecord>,
  expectations: ReadonlyArray<ExpectationRecord>,
  labels: ReadonlyArray<CheckLabelRecord>,
): ReadonlyArray<ExpectedCheckState> => {
  const checkOf = findByCheck(checks)
  const expectationOf = findByCheck(expectations)
  const labelOf = findByCheck(labels)
  return refs.map((ref) => toExpectedCheck(ref, checkOf(ref), expectationOf(ref), labelOf(ref)))
}

export type ExpectedCheckParameters = PageParameters & {
  readonly agent_id?: AgentId | undefined
  /** The state to list; `late` includes checks that never reported. */
  readonly state?: ShownState | undefined
  /** The same as `late`. */
  readonly is_overdue: boolean
  readonly status?: ListedStatus | undefined
  readonly search?: string | undefined
  readonly from_agent?: AgentId | undefined
  /** Whether checks of places are left out. */
  readonly without_places?: boolean | undefined
}

const withoutPlaces = (checks: ReadonlyArray<CheckRecord>) =>
  Effect.succeed(checks.filter(({ is_of_place }) => is_of_place === undefined))

/** A page of checks with when they must report. */
export const expectedChecks = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  {
    from_agent,
    is_overdue,
    agent_id,
    search,
    state,
    status,
    without_places,
    ...parameters
  }: ExpectedCheckParameters,
): Effect.fn.Return<Page<ExpectedCheckState>, ValidationError | StorageError> {
  const order = { sort: "agent_id", direction: "asc" } as const
  const filter = { agent_id, search, state, status }
  const start = startAt("checks", agent_id === undefined ? from_agent : undefined)
  if (is_overdue || state === "late") {
    const query = { ...order, list: "overdue", filter } as const
    const found = yield* readPage(storage, sha256, query, parameters, start)
    const checks = yield* storage.checks(found.items)
    const labels = yield* storage.rows("check_label", found.items)
    return { ...found, items: toExpectedChecks(found.items, checks, found.items, labels) }
  }
  const query = { ...order, list: "checks", filter } as const
  const pages = without_places === true ? matchingPages<"checks">(storage, withoutPlaces) : storage
  const found = yield* readPage<"checks">(pages, sha256, query, parameters, start)
  const expectations = yield* storage.rows("expectation", found.items)
  const labels = yield* storage.rows("check_label", found.items)
  return { ...found, items: toExpectedChecks(found.items, found.items, expectations, labels) }
})
