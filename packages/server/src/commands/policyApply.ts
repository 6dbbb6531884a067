import { Policies } from "@tocsin/core/usecases/Policies"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandFailure, notFound, refusal } from "../CommandFailure.ts"
import { readPolicyFileText } from "../policy/readPolicyFile.ts"
import { act, onStorage } from "./act.ts"
import * as flags from "./flags.ts"

const textOf = (file: string) =>
  Effect.mapError(
    readPolicyFileText(file),
    () =>
      new CommandFailure({
        exit: "failed",
        message: `${file} cannot be read: check that it exists, is readable and has at most 1 MiB`,
      }),
  )

/** `tocsin policy apply` */
export const apply = act({
  name: "apply",
  parameters: {
    file: Argument.String("FILE").pipe(Argument.withDescription("A policy in YAML or JSON")),
    replaces: flags
      .text("if-match", "Replace only the policy with this hash (default: whichever is in force)")
      .pipe(Flag.withMetavar("HASH")),
  },
  run: Effect.fnUntraced(function* ({ file, replaces }) {
    const text = yield* textOf(file)
    const answer = yield* onStorage(Policies.use((policies) => policies.apply(text, replaces))).pipe(
      Effect.catchTag("AnotherPolicy", ({ message }) => Effect.fail(refusal(message))),
    )
    const { hash, version } = answer
    return { answer, text: `version ${version} (${hash}) is in force on every server within 5 s\n` }
  }),
}).pipe(
  Command.withDescription(
    "Store a policy, which every server without SERVICE_POLICY_FILE puts in force within 5 s. It may name only\n" +
      "  files of the folder SERVICE_SECRETS_DIR, and variables that begin with TOCSIN_SECRET_",
  ),
  Command.withShortDescription("Apply a policy on every server"),
  Command.withExamples([{ command: "tocsin policy apply policy.yaml" }]),
)

/** `tocsin policy get` */
export const get = act({
  name: "get",
  parameters: {},
  run: Effect.fnUntraced(function* () {
    const { items } = yield* onStorage(Policies.use(({ versions }) => versions))
    const [newest] = items
    if (newest !== undefined) return { answer: newest, text: newest.text }
    return yield* notFound("no policy is stored: apply one with tocsin policy apply FILE")
  }),
}).pipe(
  Command.withDescription("Write the newest stored policy, as it was applied"),
  Command.withShortDescription("Write the stored policy"),
)
