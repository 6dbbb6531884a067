import process from "node:process"
import type { FiringCount } from "@tocsin/contract/Policies"
import { NotifierKind } from "@tocsin/contract/Status"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { Commits } from "@tocsin/core/engine/commits/Commits"
import { countFirings } from "@tocsin/core/evaluation/countFirings"
import { compileGiven, type PolicyNotifiers } from "@tocsin/core/policy/compilePolicy"
import { Storage } from "@tocsin/core/ports/Storage"
import { Effect, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandFailure, notFound, refusal, usageFailure } from "../CommandFailure.ts"
import { placeOfSettings, requireSchema } from "../copy/StoragePlace.ts"
import { Output, writeResult } from "../output/Output.ts"
import { plural } from "../output/texts.ts"
import { issueLines } from "../policy/BadPolicy.ts"
import { readPolicyFile, readPolicyFileText } from "../policy/readPolicyFile.ts"
import { policyNotifiers } from "../rules.ts"
import { commandSettings } from "../settings/checkedSettings.ts"
import * as flags from "./flags.ts"
import { testPolicy } from "./policyTest.ts"
import { settingsOfCommand, storageOfCommand } from "./UseCases.ts"
import { tryPolicy } from "./policyTry.ts"
import { Policies } from "@tocsin/core/usecases/Policies"
import { act, onStorage } from "./act.ts"

/** The firings that a policy sends immediately, a line for each receiver. */
const firingsText = (firings: ReadonlyArray<FiringCount>): string =>
  firings.map(({ count, receiver }) => `${receiver} gets ${plural(count, "firing")} immediately\n`).join("")

/** The text of a file of at most 1 MiB. */
export const policyFileText = (file: string) =>
  Effect.mapError(
    readPolicyFileText(file),
    () =>
      new CommandFailure({
        exit: "failed",
        message: `${file} cannot be read: check that it exists, is readable and has at most 1 MiB`,
      }),
  )

/** `tocsin policy apply` */
const apply = act({
  name: "apply",
  parameters: {
    file: Argument.String("FILE").pipe(Argument.withDescription("A policy in YAML or JSON")),
    replaces: flags
      .text("if-match", "Replace only the policy with this hash (default: whichever is in force)")
      .pipe(Flag.withMetavar("HASH")),
    confirm: flags.flag("confirm", "Let a receiver get more than 100 firings immediately"),
  },
  run: Effect.fnUntraced(function* ({ confirm, file, replaces }) {
    const text = yield* policyFileText(file)
    const answer = yield* onStorage(
      Policies.use((policies) => policies.apply(text, { confirm, replaces })),
    ).pipe(Effect.catchTag("AnotherPolicy", ({ message }) => Effect.fail(refusal(message))))
    const { firings, hash, version } = answer
    return {
      answer,
      text: `version ${version} (${hash}) is in force on every server within 5 s\n${firingsText(firings)}`,
    }
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
const get = act({
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

/** The receivers of a policy that defines none; invalid settings leave all kinds possible. */
const knownNotifiers = (): PolicyNotifiers => {
  const settings = commandSettings(process.env)
  return Result.isSuccess(settings)
    ? policyNotifiers(settings.success)
    : { notifiers: NotifierKind.literals, keepsNotifiers: false }
}

/** The firings that a policy would send immediately, of a database of the settings. */
const firingsOf = Effect.fnUntraced(function* (document: PolicyDocument) {
  const settings = yield* settingsOfCommand
  const place = placeOfSettings(settings)
  if (place === undefined) return yield* usageFailure("with DATABASE_URL=memory, only its API can count them")
  yield* requireSchema(place)
  const policy = compileGiven(document, policyNotifiers(settings))
  const options = { policy: () => policy, staleAfter: settings.SERVICE_STALE_AFTER }
  return yield* Effect.provide(
    Effect.gen(function* () {
      return yield* countFirings(yield* Storage, yield* Commits, options)
    }),
    storageOfCommand(settings),
  )
})

/** `tocsin policy check` */
const check = Command.make(
  "check",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("A policy in YAML or JSON")),
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ file, json }) {
    const read = yield* Effect.result(readPolicyFile(file, knownNotifiers()))
    if (Result.isSuccess(read)) {
      const counted = yield* Effect.result(firingsOf(read.success))
      const firings = Result.getOrUndefined(counted)
      yield* writeResult(
        json,
        { issues: [], ...(firings !== undefined && { firings }) },
        () => `${file} is valid\n${firingsText(firings ?? [])}`,
      )
      if (Result.isFailure(counted))
        yield* (yield* Output).note(`firings are not counted: ${counted.failure.message}`)
      return
    }
    const issues = read.failure
    const lines = issueLines(file, issues)
    yield* writeResult(json, { issues }, () => lines.map((line) => `${line}\n`).join(""))
    return yield* new CommandFailure({ exit: "failed", message: `${file} is not a valid policy` })
  }),
).pipe(
  Command.withDescription(
    "Check a policy, and name its problems by line and path; correcting some may show others. Of a valid one,\n" +
      "  count the firings that each receiver would get immediately, if the settings name a database. Opens no file\n" +
      "  and no variable that the policy names",
  ),
  Command.withShortDescription("Check a policy"),
)

/** `tocsin policy` */
export const policy = Command.make("policy").pipe(
  Command.withDescription("Check, test, try or apply a policy: receivers, routes and maintenance windows"),
  Command.withSubcommands([check, testPolicy, tryPolicy, apply, get]),
)
