import process from "node:process"
import { NotifierKind } from "@tocsin/contract/Status"
import type { PolicyNotifiers } from "@tocsin/core/policy/compilePolicy"
import { Effect, Result } from "effect"
import { Argument, Command } from "effect/cli"
import { CommandFailure } from "../CommandFailure.ts"
import { writeResult } from "../output/Output.ts"
import { issueLines } from "../policy/BadPolicy.ts"
import { readPolicyFile } from "../policy/readPolicyFile.ts"
import { policyNotifiers } from "../rules.ts"
import { commandSettings } from "../settings/checkedSettings.ts"
import * as flags from "./flags.ts"
import { apply, get } from "./policyApply.ts"
import { testPolicy } from "./policyTest.ts"
import { tryPolicy } from "./policyTry.ts"

/** The receivers of a policy that defines none; invalid settings leave all kinds possible. */
const knownNotifiers = (): PolicyNotifiers => {
  const settings = commandSettings(process.env)
  return Result.isSuccess(settings)
    ? policyNotifiers(settings.success)
    : { notifiers: NotifierKind.literals, keepsNotifiers: false }
}

/** `tocsin policy check` */
const check = Command.make(
  "check",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("A policy in YAML or JSON")),
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ file, json }) {
    const read = yield* Effect.result(readPolicyFile(file, knownNotifiers()))
    const issues = Result.isSuccess(read) ? [] : read.failure
    const lines = issueLines(file, issues)
    yield* writeResult(json, { issues }, () =>
      lines.length === 0 ? `${file} is valid\n` : lines.map((line) => `${line}\n`).join(""),
    )
    if (issues.length === 0) return
    return yield* new CommandFailure({ exit: "failed", message: `${file} is not a valid policy` })
  }),
).pipe(
  Command.withDescription(
    "Check a policy, and name its problems by line and path; correcting some may show others. Opens no file and no variable that the policy names",
  ),
  Command.withShortDescription("Check a policy"),
)

/** `tocsin policy` */
export const policy = Command.make("policy").pipe(
  Command.withDescription("Check, test, try or apply a policy: receivers, routes and maintenance windows"),
  Command.withSubcommands([check, testPolicy, tryPolicy, apply, get]),
)
