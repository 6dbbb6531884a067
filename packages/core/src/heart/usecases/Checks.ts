import { Context, Effect, Layer } from "effect"
import { operationPorts, type OperationPorts } from "./operationPorts.ts"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import { noSuch } from "../../kernel/engine/OperationErrors.ts"
import { agentNotFound } from "../admission/AdmissionErrors.ts"
import { type CheckActionOutcome, removeCheck, resetClock } from "../checks/checkActions.ts"
import type { CheckName } from "../../kernel/model/CheckRef.ts"
import { titleAgent, titleCheck } from "../checks/titleCheck.ts"
import { holdingChecks } from "./heldChecks.ts"
import { type ExpectedCheckParameters, expectedChecks } from "../overdue/expectedChecks.ts"
import { TITLES_OF_AGENTS } from "../replicas/knownNames.ts"
import { refuseUnknown } from "./Replicas.ts"

/** How many checks an action changed, or the error that says why there is none. */
export const countOf = (outcome: CheckActionOutcome) => {
  if (typeof outcome === "number") return Effect.succeed({ count: outcome })
  return Effect.fail(outcome === "no_such_agent" ? agentNotFound() : noSuch("check_of_agent"))
}

/** Operators' actions on checks. */
const checkOperations = ({ options, signed, storage, ...ports }: OperationPorts) => ({
  /** Checks with their states, when they must report, and what mutes them. */
  expectedChecks: Effect.fn("Operations.expectedChecks")(function* (parameters: ExpectedCheckParameters) {
    const page = yield* expectedChecks(storage, ports.sha256, parameters)
    return { ...page, items: yield* holdingChecks({ ...ports, storage })(page.items) }
  }),
  /** Releases a check frozen by a clock in the future. */
  resetClock: (check: CheckName) =>
    Effect.flatMap(
      signed((by) => resetClock(check, by)),
      countOf,
    ),
  /** Gives a check a title, or takes it back. */
  titleCheck: (check: CheckName, title: string | undefined) =>
    Effect.flatMap(
      signed((by) => titleCheck(check, title, options, by)),
      countOf,
    ),
  /** Gives an agent a title, or takes it back. */
  titleAgent: Effect.fnUntraced(function* (agent: AgentId, title: string | undefined) {
    yield* refuseUnknown(storage, [TITLES_OF_AGENTS])
    return yield* Effect.flatMap(
      signed((by) => titleAgent(agent, title, options, by)),
      countOf,
    )
  }),
  /** Deletes one check; it leaves its incident. */
  removeCheck: (check: CheckName) =>
    Effect.flatMap(
      signed((by) => removeCheck(check, options, by)),
      countOf,
    ),
})

/** Operators' actions on checks (docs/rules.md#events). */
export class Checks extends Context.Service<Checks>()("@tocsin/core/heart/usecases/Checks", {
  make: Effect.map(operationPorts, checkOperations),
}) {
  static readonly layer = Layer.effect(Checks, Checks.make)
}
