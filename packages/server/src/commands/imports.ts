import { Effect, Result } from "effect"
import { failure } from "../CommandFailure.ts"
import { Output, writeResult } from "../output/Output.ts"
import type { MovedText } from "../policy/import/MovedPolicy.ts"
import { command, group } from "./define.ts"
import * as flags from "./flags.ts"
import { policyFileText } from "./policy.ts"

const takenOver = <A>(file: string, read: Result.Result<A, string>) =>
  Effect.fromResult(Result.mapError(read, (why) => failure(`${file} cannot be taken over: ${why}`)))

type Import<A> = (text: string) => Result.Result<A, string>

/** Reads a file by an import, which is loaded by the first file: most need the parser of YAML. */
const fromText = <A>(load: () => Promise<Import<A>>) =>
  Effect.fnUntraced(function* (file: string) {
    const read = yield* Effect.promise(load)
    return read(yield* policyFileText(file))
  })

const alertmanagers = fromText(() =>
  import("../policy/import/importPolicy.ts").then((loaded) => loaded.importAlertmanager),
)

const alertmanager = command({
  name: "alertmanager",
  description: "Write a policy with the routes and mute times of an Alertmanager's configuration",
  parameters: { file: flags.argument("FILE", "The configuration of an Alertmanager"), json: flags.json },
  run: Effect.fnUntraced(function* ({ file, json }) {
    const imported = yield* takenOver(file, yield* alertmanagers(file))
    yield* writeResult(json, imported, () => imported.policy)
  }),
})

/** A command that moves the checks of another monitor in. */
const movingIn = <E, R>(
  given: { readonly name: string; readonly description: string; readonly file: string },
  read: (file: string) => Effect.Effect<Result.Result<MovedText, string>, E, R>,
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
      const { secrets, summary, ...answer } = yield* takenOver(file, yield* read(file))
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
    Effect.promise(() => import("../policy/import/importKuma.ts").then(({ importKuma }) => importKuma(file))),
)

const gatus = movingIn(
  {
    name: "gatus",
    description: "Write a policy with the endpoints of a Gatus",
    file: "Its configuration in YAML",
  },
  fromText(() => import("../policy/import/importGatus.ts").then((loaded) => loaded.importGatus)),
)

const healthchecks = movingIn(
  {
    name: "healthchecks",
    description: "Write a policy with the checks of a Healthchecks",
    file: "The JSON of its GET /api/v3/checks/",
  },
  fromText(() =>
    import("../policy/import/importHealthchecks.ts").then((loaded) => loaded.importHealthchecks),
  ),
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
