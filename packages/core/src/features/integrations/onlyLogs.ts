import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { Effect } from "effect"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import type { CheckName, CheckRef } from "../../kernel/model/CheckRef.ts"
import { commandOf, load } from "../../kernel/unitOfWork/Decision.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import type { JobRunRecord } from "./JobRunRecord.ts"
import { ALL_INTEGRATIONS } from "./seeIntegrations.ts"

const ONLY_LOGS =
  "It only gets /log, which states no result: send its address alone when the job succeeds, and with /fail when it fails."

const isLog = ({ log, starts }: JobRunRecord): boolean => log !== undefined && starts.length === 0

/** Says of a check without a result that its sender only sends logs, if so. */
export const logReasons = ({ storage }: { readonly storage: Pick<Storage["Service"], "rows"> }) =>
  Effect.fnUntraced(function* (ref: CheckRef) {
    const [run] = yield* storage.rows("job_run", [ref])
    return run !== undefined && isLog(run) ? [ONLY_LOGS] : []
  })

const checksWithOnlyLogs = commandOf(function* (unit, name: AgentId) {
  yield* load(unit, { agents: [name] })
  const agent = unit.agents.get(name)
  if (agent === undefined) return []
  yield* load(unit, { groups: { job_run: [agent] } })
  const logged = unit.of("job_run").group(agent.registration_id).filter(isLog)
  const check_ids = logged.map(({ check_id }) => check_id)
  yield* load(unit, { checks: { agent_id: name, check_ids } })
  return logged.flatMap((ref): ReadonlyArray<CheckId> =>
    unit.checks.get(ref) === undefined ? [ref.check_id] : [],
  )
})

/** The checks of all integrations that have never had a result, since their senders only send logs. */
export const withOnlyLogs = (
  storage: Storage["Service"],
  { transact }: Pick<Commits["Service"], "transact">,
) =>
  Effect.gen(function* () {
    const found: Array<CheckName> = []
    yield* eachPage(storage, ALL_INTEGRATIONS, (rows) =>
      Effect.forEach(
        rows.filter(({ kind }) => kind === "ping"),
        ({ name: agent_id }) =>
          Effect.map(transact(checksWithOnlyLogs(agent_id)), (ids) => {
            found.push(...ids.map((check_id) => ({ agent_id, check_id })))
          }),
        { discard: true },
      ),
    )
    return found
  })
