import { Effect } from "effect"
import { Command } from "effect/cli"
import { confirm } from "../../output/confirm.ts"
import * as flags from "../flags.ts"
import { actOnAgents } from "./actOnAgents.ts"
import { agentIds, allOf, targetsOf } from "./agentArguments.ts"

/** `tocsin agents remove` */
export const remove = Command.make(
  "remove",
  { ids: agentIds, all: allOf("Remove every pending agent"), yes: flags.yes, json: flags.json },
  Effect.fnUntraced(function* ({ ids, all, yes, json }) {
    const targets = yield* targetsOf(ids, all)
    const question =
      targets === "all"
        ? "this removes every pending agent"
        : `this deletes ${targets.join(", ")} with all keys, checks and history`
    yield* confirm(question, yes)
    return yield* actOnAgents(
      {
        one: (admission) => admission.remove,
        all: (admission) => admission.removeAll,
        done: "removed",
        nothing: "there was nothing to remove",
      },
      { targets, json },
    )
  }),
).pipe(Command.withDescription("Delete agents with their keys, checks and history"))
