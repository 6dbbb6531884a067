import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { findLostOverrides } from "@tocsin/core/features/onCall/overrideDecisions"
import { OnCall } from "@tocsin/core/features/onCall/OnCall"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect } from "effect"
import { attention } from "../../commands/doctor/Finding.ts"

/** A rota may have thousands of turns in a longer span. */
const SPAN = Duration.days(1)

/** Receivers on call in the next hours that refused their last message for good, each once (docs/rules.md#on-call). */
export const examineOnCall = Effect.gen(function* () {
  const { rota, rotas } = yield* OnCall
  const { items } = yield* rotas
  const from = yield* Instant.now
  const plans = yield* Effect.forEach(items, ({ name }) => rota(name, { from, to: Instant.plus(from, SPAN) }))
  const refused = plans.flatMap(({ gaps }) => gaps.filter(({ reason }) => reason === "refused"))
  const messages = new Map(refused.map(({ message, receiver }) => [receiver, message]))
  return Array.from(messages.values(), (message) => attention("on call", message))
})

/** Overrides that do not count. */
export const examineOverrides = Effect.gen(function* () {
  const policy = (yield* PolicyInForce).current()
  const lost = yield* Commits.use(({ transact }) => transact(findLostOverrides(policy)))
  return lost.map(({ message, path }) =>
    attention("on call", `correct the policy or end the override: ${fieldPath(path)} ${message}`),
  )
})
