import type { IntegrationKind } from "@tocsin/contract/Integrations"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { IntegrationRecord } from "../model/IntegrationRecord.ts"
import { KINDS } from "./kinds.ts"
import type { Refusal } from "./Report.ts"

/** An integration with its agent. */
export interface Bounded {
  readonly kind: IntegrationKind
  readonly integration: IntegrationRecord
  readonly agent: AgentRecord
}

const checkCount = ({ checks_critical, checks_ok, checks_unknown, checks_warning }: AgentRecord): number =>
  checks_critical + checks_ok + checks_unknown + checks_warning

/** How many checks an agent has, those included that have begun and never reported. */
function* countOf(unit: UnitOfWork, { agent, kind }: Bounded): Decision<number> {
  if (!KINDS[kind].hasRuns) return checkCount(agent)
  yield* load(unit, { groups: { expectation: [agent] } })
  const expected = unit.expectations.group(agent.registration_id)
  const check_ids = expected.map(({ check_id }) => check_id)
  yield* load(unit, { checks: { agent_id: agent.agent_id, check_ids } })
  return checkCount(agent) + expected.filter((ref) => unit.checks.get(ref) === undefined).length
}

/** Why a report on a check that is not known yet is refused, if it is. */
export function* refusalOfNew(
  unit: UnitOfWork,
  bounded: Bounded,
  created: number,
): Decision<Refusal | undefined> {
  const { options } = bounded.integration
  if (options.create === false) return { refused: "not_found", message: "this integration creates no checks" }
  const { max_checks: most = KINDS[bounded.kind].mostChecks } = options
  if ((yield* countOf(unit, bounded)) + created < most) return undefined
  const message = `this integration has ${most} checks, the most that it may have`
  return { refused: "too_many_checks", message }
}
