import { Effect, Result } from "effect"
import { Argument, Command } from "effect/cli"
import { CommandFailure } from "../CommandFailure.ts"
import { act } from "./act.ts"
import { policyFileText } from "./policy.ts"

// The parser of YAML is loaded by the first file that is read.
const importer = Effect.promise(() => import("@tocsin/adapter-http/policy/import/importPolicy"))

const alertmanager = act({
  name: "alertmanager",
  parameters: {
    file: Argument.String("FILE").pipe(Argument.withDescription("The configuration of an Alertmanager")),
  },
  run: Effect.fnUntraced(function* ({ file }) {
    const { importAlertmanager } = yield* importer
    const imported = importAlertmanager(yield* policyFileText(file))
    if (Result.isFailure(imported))
      return yield* new CommandFailure({
        exit: "failed",
        message: `${file} cannot be taken over: ${imported.failure}`,
      })
    return { answer: imported.success, text: imported.success.policy }
  }),
}).pipe(
  Command.withDescription("Write a policy with the routes and mute times of an Alertmanager's configuration"),
)

/** `tocsin import` */
export const importPolicy = Command.make("import").pipe(
  Command.withDescription("Turn the configuration of another program into a policy"),
  Command.withExamples([{ command: "tocsin import alertmanager alertmanager.yml > policy.yaml" }]),
  Command.withSubcommands([alertmanager]),
)
