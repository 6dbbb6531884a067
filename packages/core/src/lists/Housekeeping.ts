import { Effect, Layer } from "effect"
import { repeatChore } from "../kernel/engine/commits/Chore.ts"
import { idlePendingChores } from "../heart/admission/removeAgent.ts"
import { openingsCountFor } from "../heart/policy/compilePolicy.ts"
import { Retention } from "../kernel/engine/commits/Retention.ts"
import { retentionChores } from "./retention/retentionChores.ts"
import { serviceHeartbeatChore } from "../heart/clock/repairClocks.ts"
import { PieceSizes } from "../kernel/engine/lists/readPage.ts"
import { overdueChore } from "../heart/overdue/evaluateExpectations.ts"
import { withdrawnChore } from "../heart/checks/withdrawChecks.ts"
import { freshnessChore } from "../heart/overdue/followPolicy.ts"
import { evaluationChore } from "../heart/evaluation/evaluateIncidents.ts"
import { countParentChanges, evaluationPassChore } from "../heart/evaluation/evaluationPass.ts"
import { deadAgentsChore } from "../heart/deadAgents/heartbeatIncident.ts"
import { unclaimedChore } from "../heart/notifications/discardUnclaimed.ts"
import { followLabels } from "../heart/policy/followLabels.ts"
import { features } from "./features.ts"
import { operationPorts } from "../heart/usecases/operationPorts.ts"

/** Runs all background work until the layer closes. Safe with several replicas. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { commits, options: incidents, policy, receivers, rules, storage } = yield* operationPorts
    const services = { storage, commits, rules, pieces: yield* PieceSizes }
    const retention = yield* Retention
    const labels = followLabels(services.commits)
    const parentChanges = yield* countParentChanges(services)
    const chores = [
      serviceHeartbeatChore(services),
      deadAgentsChore(services, incidents),
      overdueChore(services, incidents),
      withdrawnChore(services, incidents, retention),
      evaluationChore(services, incidents),
      evaluationPassChore(services, { incidents, labels, parentChanges }),
      freshnessChore(services, { inForce: policy, labels }, incidents),
      ...retentionChores(services, retention, () => openingsCountFor(policy.current())),
      ...idlePendingChores(services, retention, incidents),
      unclaimedChore(services, receivers),
      ...features.flatMap((part) => ("chores" in part ? part.chores(services, incidents, retention) : [])),
    ]
    for (const chore of chores) yield* Effect.forkScoped(repeatChore(chore))
  }),
)
