import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { usageFailure } from "../../CommandFailure.ts"
import { confirm } from "../../output/confirm.ts"
import * as flags from "../flags.ts"
import { actOnAgents } from "./actOnAgents.ts"
import { agentIds, allOf, targetsOf } from "./agentArguments.ts"

/** `tocsin agents accept` */
export const accept = Command.make(
  "accept",
  {
    ids: agentIds,
    all: allOf("Accept every pending agent"),
    includeRotation: Flag.Boolean("include-rotation").pipe(
      Flag.withDescription("With --all: new keys of accepted agents too"),
      Flag.withoutNegation,
      Flag.withDefault(false),
    ),
    yes: flags.yes,
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ ids, all, includeRotation, yes, json }) {
    const targets = yield* targetsOf(ids, all)
    if (targets === "all") {
      const keys = includeRotation ? "every pending agent and every new key" : "every pending agent"
      yield* confirm(`this accepts ${keys}, whoever sent it`, yes)
    } else if (includeRotation) {
      return yield* usageFailure(
        "use --include-rotation only with --all: accepting a named agent includes its rotation",
      )
    }
    return yield* actOnAgents(
      {
        one: (admission) => admission.accept,
        all: (admission) => admission.acceptAll({ includeRotation }),
        done: "accepted",
        nothing: "nothing is pending",
      },
      { targets, json },
    )
  }),
).pipe(
  Command.withDescription("Accept pending agents, or the new keys of accepted ones"),
  Command.withExamples([{ command: "tocsin agents accept web-1 web-2" }]),
)
