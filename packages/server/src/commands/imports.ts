import { Effect, Result } from "effect"
import { CommandFailure } from "../CommandFailure.ts"
import { Output, writeResult } from "../output/Output.ts"
import type { MovedText } from "../policy/import/MovedPolicy.ts"
import { command, group } from "./define.ts"
import * as flags from "./flags.ts"
import { policyFileText } from "./policy.ts"

// The parser of YAML is loaded by the first file that is read.
const importer = Effect.promise(() => import("../policy/import/importPolicy.ts"))

const alertmanager = command({
  name: "alertmanager",
  description: "Write a policy with the routes and mute times of an Alertmanager's configuration",
  parameters: { file: flags.argument("FILE", "The configuration of an Alertmanager"), json: flags.json },
  run: Effect.fnUntraced(function* ({ file, json }) {
    const { importAlertmanager } = yield* importer
    const imported = importAlertmanager(yield* policyFileText(file))
    if (Result.isFailure(imported))
      return yield* new CommandFailure({
        exit: "failed",
        message: `${file} cannot be taken over: ${imported.failure}`,
      })
    yield* writeResult(json, imported.success, () => imported.success.policy)
  }),
})

/** A command that moves the checks of another monitor in. */
const movingIn = (
  given: { readonly name: string; readonly description: string; readonly file: string },
  read: (file: string) => Effect.Effect<Result.Result<MovedText, string>, CommandFailure>,
) =>
  command({
    name: given.name,
    description: given.description,
    parameters: {
      file: flags.argument("FILE", given.file),
      secrets: flags.flag("secrets", "Write the secrets alone, as variables that a shell reads"),
      json: flags.json,
    },
    run: Effect.fnUntraced(function* ({ file, json, secrets: isOfSecrets }) {
      const moved = yield* read(file)
      if (Result.isFailure(moved))
        return yield* new CommandFailure({
          exit: "failed",
          message: `${file} cannot be taken over: ${moved.failure}`,
        })
      const { secrets, summary, ...answer } = moved.success
      if (isOfSecrets) return yield* writeResult(json, { secrets }, () => secrets)
      yield* writeResult(json, answer, () => answer.policy)
      yield* (yield* Output).note(summary)
    }),
  })

const kuma = movingIn(
  {
    name: "kuma",
    description: "Write a policy with the monitors of an Uptime Kuma, of 1.23 or 2.x",
    file: "Its database, kuma.db; a kuma.db-wal beside it counts",
  },
  (file) =>
    Effect.promise(async () => {
      const { importKuma } = await import("../policy/import/importKuma.ts")
      return importKuma(file)
    }),
)

const gatus = movingIn(
  {
    name: "gatus",
    description: "Write a policy with the endpoints of a Gatus",
    file: "Its configuration in YAML",
  },
  Effect.fnUntraced(function* (file) {
    const { importGatus } = yield* Effect.promise(() => import("../policy/import/importGatus.ts"))
    return importGatus(yield* policyFileText(file))
  }),
)

const healthchecks = movingIn(
  {
    name: "healthchecks",
    description: "Write a policy with the checks of a Healthchecks",
    file: "The JSON of its GET /api/v3/checks/",
  },
  Effect.fnUntraced(function* (file) {
    const { importHealthchecks } = yield* Effect.promise(
      () => import("../policy/import/importHealthchecks.ts"),
    )
    return importHealthchecks(yield* policyFileText(file))
  }),
)

export const importPolicy = group({
  name: "import",
  description: "Turn the configuration of another program into a policy",
  examples: [
    "tocsin import alertmanager alertmanager.yml > policy.yaml",
    "tocsin import kuma data/kuma.db > policy.yaml",
  ],
  commands: [alertmanager, kuma, gatus, healthchecks],
})
