import { Effect } from "effect"
import { Command } from "effect/cli"
import { confirm } from "../../output/confirm.ts"
import * as flags from "../flags.ts"
import { actOnAgents } from "./actOnAgents.ts"
import { agentIds, allOf, targetsOf } from "./agentArguments.ts"

/** `tocsin agents block` */
export const block = Command.make(
  "block",
  { ids: agentIds, all: allOf("Block every pending key"), yes: flags.yes, json: flags.json },
  Effect.fnUntraced(function* ({ ids, all, yes, json }) {
    const targets = yield* targetsOf(ids, all)
    const question =
      targets === "all"
        ? "this blocks every pending key, and deletes the agents that have no other"
        : `this blocks the pending key of ${targets.join(", ")}, or else the accepted one; ` +
          "an agent left without a key is deleted with its checks and history"
    yield* confirm(question, yes)
    return yield* actOnAgents(
      {
        one: (admission) => admission.block,
        all: (admission) => admission.blockAll,
        done: "blocked",
        nothing: "there is no key to block",
      },
      { targets, json },
    )
  }),
).pipe(
  Command.withDescription(
    "Block keys of agents: the pending one, or else the accepted one. Not safe to repeat",
  ),
)
