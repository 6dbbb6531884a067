import { Effect } from "effect"
import { Command } from "effect/cli"
import { serve as runServer } from "../serve.ts"

/** `tocsin serve`, with the settings of the environment. */
export const serve = Command.make("serve", {}, () => Effect.sync(runServer)).pipe(
  Command.withDescription(
    "Run the server: what tocsin does without a command. Its settings are environment variables",
  ),
  Command.withShortDescription("Run the server (what tocsin does without a command)"),
)
