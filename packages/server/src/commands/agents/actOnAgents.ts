import type { AgentNotFound } from "@tocsin/core/admission/AdmissionErrors"
import type { AgentId } from "@tocsin/core/contract/Identifiers"
import type { ActionCountResponse } from "@tocsin/core/contract/Responses"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Admission } from "@tocsin/core/usecases/Admission"
import { Effect } from "effect"
import { CommandFailure } from "../../CommandFailure.ts"
import { jsonText } from "../../output/jsonText.ts"
import { Output } from "../../output/Output.ts"
import { useCases } from "../UseCases.ts"
import { noSuchAgent, type Targets } from "./agentArguments.ts"

type Use = Admission["Service"]

/** One action, on one agent and on all that are pending. */
export interface AgentAction {
  readonly one: (
    admission: Use,
  ) => (id: AgentId) => Effect.Effect<ActionCountResponse, AgentNotFound | StorageError>
  readonly all: (admission: Use) => Effect.Effect<ActionCountResponse, StorageError>
  /** What became of one: "accepted". */
  readonly done: string
  /** What is told where there was nothing to do. */
  readonly nothing: string
}

interface Outcome {
  readonly agent_id: AgentId
  readonly count: number
  readonly error: string | null
}

const actOnOne = Effect.fnUntraced(function* (action: AgentAction, agent_id: AgentId) {
  return yield* action
    .one(yield* Admission)(agent_id)
    .pipe(
      Effect.map(({ count }): Outcome => ({ agent_id, count, error: null })),
      Effect.catchTag("AgentNotFound", () =>
        Effect.map(noSuchAgent(agent_id), ({ message }): Outcome => ({ agent_id, count: 0, error: message })),
      ),
    )
})

const actOnEach = Effect.fnUntraced(function* (
  action: AgentAction,
  ids: ReadonlyArray<AgentId>,
  json: boolean,
) {
  const output = yield* Output
  const outcomes: Array<Outcome> = []
  for (const id of ids) {
    const outcome = yield* actOnOne(action, id)
    outcomes.push(outcome)
    if (outcome.error !== null || json) continue
    yield* output.write(`${id}: ${outcome.count > 0 ? action.done : action.nothing}\n`)
  }
  if (json) yield* output.write(`${jsonText({ items: outcomes }, output.columns !== undefined)}\n`)
  const errors = outcomes.flatMap(({ error }) => error ?? [])
  if (errors.length > 0) return yield* new CommandFailure({ exit: "not_found", message: errors.join("\n") })
})

const actOnAll = Effect.fnUntraced(function* (action: AgentAction, json: boolean) {
  const output = yield* Output
  const { count } = yield* action.all(yield* Admission)
  yield* output.write(json ? `${jsonText({ count })}\n` : `${count} ${action.done}\n`)
})

/**
 * Does something to one agent after the other. Those that are not there are told with what to look at, and do not keep
 * the others from being served; the command fails then.
 */
export const actOnAgents = Effect.fnUntraced(function* (
  action: AgentAction,
  { targets, json }: { readonly targets: Targets; readonly json: boolean },
) {
  return yield* targets === "all" ? actOnAll(action, json) : actOnEach(action, targets, json)
}, Effect.provide(useCases))
