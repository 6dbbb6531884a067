import * as Instant from "@tocsin/contract/formats/Instant"
import { recordAudit, type Signature } from "../audit/recordAudit.ts"
import { OUTLIVES_SIGN_IN, type SubscriptionRecord } from "../model/SubscriptionRecord.ts"
import { type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"

/** Removes browsers, within a decision that has loaded them. */
export const dropSubscriptions = (
  unit: UnitOfWork,
  rows: ReadonlyArray<SubscriptionRecord>,
  by: Signature,
): void => {
  for (const { id } of rows) unit.of("push_subscription").delete(id)
  for (const operator of new Set(rows.map((row) => row.operator))) {
    const own = rows.filter((row) => row.operator === operator)
    const name = own.map((row) => row.name).join(", ")
    const ids = own.map(({ id }) => id)
    recordAudit(unit, by, "subscription.removed", ids, { operator, name })
  }
}

/** Removes the browsers of an operator, those that `leaves` says (docs/rules.md#browsers). */
export function* endSubscriptions(
  unit: UnitOfWork,
  operator: string,
  by: Signature,
  leaves: (row: SubscriptionRecord) => boolean = () => true,
): Decision<void> {
  yield* load(unit, { groups: { push_subscription: [operator] } })
  dropSubscriptions(unit, unit.of("push_subscription").group(operator).filter(leaves), by)
}

/** The browsers of a person who signs in again stay for another while. */
export function* prolongSubscriptions(unit: UnitOfWork, operator: string): Decision<void> {
  yield* load(unit, { groups: { push_subscription: [operator] } })
  const expires_at = Instant.plus(unit.now, OUTLIVES_SIGN_IN)
  for (const row of unit.of("push_subscription").group(operator))
    unit.of("push_subscription").put({ ...row, expires_at })
}
