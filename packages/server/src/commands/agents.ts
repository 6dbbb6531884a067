import type { AgentNotFound } from "@tocsin/core/admission/AdmissionErrors"
import { AgentId } from "@tocsin/contract/Identifiers"
import type { ActionCountResponse } from "@tocsin/contract/Responses"
import { Storage, type StorageError } from "@tocsin/core/ports/Storage"
import { Admission } from "@tocsin/core/usecases/Admission"
import { Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { CommandFailure, usageFailure } from "../CommandFailure.ts"
import { confirm, Output, writeResult } from "../output/Output.ts"
import { list } from "./agentsList.ts"
import * as flags from "./flags.ts"
import { useCases } from "./UseCases.ts"

/** The targets of an action: named agents, or every pending one. */
type Targets = ReadonlyArray<AgentId> | "all"

/** An action on one agent, or on every pending one. */
interface AgentAction {
  readonly one: (
    admission: Admission["Service"],
    id: AgentId,
  ) => Effect.Effect<ActionCountResponse, AgentNotFound | StorageError>
  readonly all: (admission: Admission["Service"]) => Admission["Service"]["blockAll"]
  /** The question to confirm; absent if the action can be undone. */
  readonly question: (targets: Targets) => string | undefined
  /** The result for one agent: "accepted". */
  readonly done: string
  /** The result if there was nothing to do. */
  readonly nothing: string
}

interface Given {
  readonly ids: ReadonlyArray<string>
  readonly all: boolean
  readonly yes: boolean
  readonly json: boolean
}

const parameters = (descriptionOfAll: string) => ({
  ids: Argument.String("AGENT_ID").pipe(
    Argument.withDescription("IDs of agents, as tocsin agents list shows them"),
    Argument.variadic(),
  ),
  all: flags.flag("all", descriptionOfAll),
  yes: flags.yes,
  json: flags.json,
})

const isAgentId = Schema.is(AgentId)

const targetsOf = Effect.fnUntraced(function* ({
  ids,
  all,
}: Given): Effect.fn.Return<Targets, CommandFailure> {
  if (all && ids.length > 0) return yield* usageFailure("name agents or use --all, but not both")
  if (!all && ids.length === 0) return yield* usageFailure("name at least one agent, or use --all")
  const wrong = ids.find((id) => !isAgentId(id))
  if (wrong !== undefined) {
    return yield* usageFailure(
      `${JSON.stringify(wrong.slice(0, 64))} is not a valid agent ID: use 1 to 128 letters, digits or the characters . _ : -`,
    )
  }
  return all ? "all" : Array.from(new Set(ids.filter(isAgentId)))
})

const SUGGESTIONS = 3

/** The message for an unknown agent, which suggests IDs that begin the same way. */
const noAgentMessage = Effect.fnUntraced(function* (id: AgentId) {
  const storage = yield* Storage
  const following = yield* storage.page({
    list: "agents",
    filter: {},
    sort: "agent_id",
    direction: "asc",
    from: { values: [id], isInclusive: true },
    isBackward: false,
    limit: SUGGESTIONS + 1,
  })
  const similar = following.map(({ agent_id }) => agent_id).filter((other) => other.startsWith(id))
  const more = similar.length > SUGGESTIONS ? " …" : ""
  const message =
    similar.length === 0
      ? `there is no agent ${id}: list agents with tocsin agents list`
      : `there is no agent ${id}; IDs that start with it: ${similar.slice(0, SUGGESTIONS).join(", ")}${more}`
  return message
})

interface Outcome {
  readonly agent_id: AgentId
  readonly count: number
  readonly error: string | null
}

const actOnOne = Effect.fnUntraced(function* (action: AgentAction, agent_id: AgentId) {
  return yield* action.one(yield* Admission, agent_id).pipe(
    Effect.map(({ count }): Outcome => ({ agent_id, count, error: null })),
    Effect.catchTag("AgentNotFound", () =>
      Effect.map(noAgentMessage(agent_id), (error): Outcome => ({ agent_id, count: 0, error })),
    ),
  )
})

/**
 * Acts on one agent after the other. Unknown agents do not stop the others; the command fails
 * afterwards.
 */
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
  if (json) yield* writeResult(true, { items: outcomes }, () => "")
  const errors = outcomes.flatMap(({ error }) => error ?? [])
  if (errors.length > 0) return yield* new CommandFailure({ exit: "not_found", message: errors.join("\n") })
})

const actOnAll = Effect.fnUntraced(function* (action: AgentAction, json: boolean) {
  const acted = yield* action.all(yield* Admission)
  const { count, skipped = 0 } = acted
  const left = skipped === 0 ? "" : `${skipped} skipped, whose rows stay locked: run the command again\n`
  yield* writeResult(json, acted, () => `${count} ${action.done}\n${left}`)
})

const act = Effect.fnUntraced(function* (action: AgentAction, given: Given) {
  const targets = yield* targetsOf(given)
  const question = action.question(targets)
  if (question !== undefined) yield* confirm(question, given.yes)
  // Provided after the answer, so that help and mistakes need no storage.
  return yield* Effect.provide(
    targets === "all" ? actOnAll(action, given.json) : actOnEach(action, targets, given.json),
    useCases,
  )
})

const accept = Command.make(
  "accept",
  {
    ...parameters("Accept every pending agent"),
    includeRotation: flags.flag("include-rotation", "With --all: new keys of accepted agents too"),
  },
  Effect.fnUntraced(function* ({ includeRotation, ...given }) {
    if (includeRotation && !given.all) {
      return yield* usageFailure(
        "use --include-rotation only with --all: accepting a named agent includes its rotation",
      )
    }
    const keys = includeRotation ? "every pending agent and every new key" : "every pending agent"
    return yield* act(
      {
        one: (admission, id) => admission.accept(id),
        all: (admission) => admission.acceptAll({ includeRotation }),
        question: (targets) => (targets === "all" ? `this accepts ${keys}, known or not` : undefined),
        done: "accepted",
        nothing: "nothing is pending",
      },
      given,
    )
  }),
).pipe(
  Command.withDescription("Accept pending agents, or the new keys of accepted ones"),
  Command.withExamples([{ command: "tocsin agents accept web-1 web-2" }]),
)

const block = Command.make("block", parameters("Block every pending key"), (given) =>
  act(
    {
      one: (admission, id) => admission.block(id),
      all: (admission) => admission.blockAll,
      question: (targets) =>
        targets === "all"
          ? "this blocks every pending key, and deletes the agents that have no other"
          : `this blocks the pending key of ${targets.join(", ")}, or else the accepted one; ` +
            "an agent left without a key is deleted with its checks and history",
      done: "blocked",
      nothing: "there is no key to block",
    },
    given,
  ),
).pipe(
  Command.withDescription(
    "Block keys of agents: the pending one, or else the accepted one. Not safe to repeat",
  ),
)

const remove = Command.make("remove", parameters("Remove every pending agent"), (given) =>
  act(
    {
      one: (admission, id) => admission.remove(id),
      all: (admission) => admission.removeAll,
      question: (targets) =>
        targets === "all"
          ? "this removes every pending agent"
          : `this deletes ${targets.join(", ")} with all keys, checks and history`,
      done: "removed",
      nothing: "there was nothing to remove",
    },
    given,
  ),
).pipe(Command.withDescription("Delete agents with their keys, checks and history"))

/** `tocsin agents` */
export const agents = Command.make("agents").pipe(
  Command.withDescription("List, accept, block and remove agents"),
  Command.withSubcommands([list, accept, block, remove]),
)
