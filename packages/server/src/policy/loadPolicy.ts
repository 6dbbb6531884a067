import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import { acceptedReceivers } from "@tocsin/adapter-notify/policyReceivers"
import { readBoundedFile } from "@tocsin/adapter-notify/readBoundedFile"
import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import { atMail, completeReceivers } from "@tocsin/contract/receivers/mailServer"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { type PolicyNotifiers, receiversGiven } from "@tocsin/core/heart/policy/compilePolicy"
import { policyWarnings } from "@tocsin/core/lists/policyWarnings"
import { isOfLacked } from "@tocsin/core/heart/policy/readPolicy"
import type { Ids } from "@tocsin/core/kernel/ports/Ids"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Effect, Result, Schema, type Scope } from "effect"
import type { BrokenInstall } from "../BrokenInstall.ts"
import { postingOf, withOutsiders } from "../notifiers.ts"
import { policyNotifiers } from "../rules.ts"
import type { Settings } from "../settings/Settings.ts"
import { readGiven } from "./policyReading.ts"

/** A line for each issue: where it is, and what is wrong; with advice about receivers that are lacking. */
export const issueLines = (
  file: string,
  issues: ReadonlyArray<PolicyIssue>,
  advice = "set SERVICE_EXTENSIONS if a module gives it",
): ReadonlyArray<string> =>
  issues.map((issue) => {
    const { line, message, path } = issue
    return `${file}:${line}: ${path === "" ? "the policy" : path} ${message}${isOfLacked(issue) ? `; ${advice}` : ""}`
  })

export class BadPolicy extends Schema.TaggedError<BadPolicy>()("BadPolicy", {
  file: Schema.String,
  issues: Schema.Array(Schema.Struct({ path: Schema.String, line: Schema.Int, message: Schema.String })),
  advice: Schema.optional(Schema.String),
}) {
  override get message(): string {
    return [
      "the policy file is not valid (see docs/policy.md):",
      ...this.lines.map((line) => `  ${line}`),
    ].join("\n")
  }

  get lines(): ReadonlyArray<string> {
    return issueLines(this.file, this.issues, this.advice)
  }
}

// The parser of YAML is loaded by the first policy that is read.
const parser = Effect.promise(() => import("@tocsin/adapter-http/policy/readPolicyText"))

/** Reads the text of a policy file of at most 1 MiB. */
export const readPolicyFileText = Effect.fnUntraced(function* (
  file: string,
): Effect.fn.Return<string, ReadonlyArray<PolicyIssue>> {
  const { MAX_POLICY_BYTES } = yield* parser
  const read = Result.try(() => readBoundedFile(file, MAX_POLICY_BYTES))
  if (Result.isFailure(read)) return yield* refuse("cannot be read: check that it exists and is readable")
  return read.success ?? (yield* refuse("is larger than 1 MiB"))
})

/** Reads a policy file of at most 1 MiB. */
const openPolicyFile = Effect.fnUntraced(function* (
  file: string,
  given: PolicyNotifiers,
): Effect.fn.Return<PolicyText, ReadonlyArray<PolicyIssue>> {
  const text = yield* readPolicyFileText(file)
  const { openPolicyText } = yield* parser
  return yield* Effect.fromResult(openPolicyText(text, given))
})

/** Reads a policy file without the secrets that it names. */
export const readPolicyFile = (file: string, given: PolicyNotifiers) =>
  Effect.flatMap(openPolicyFile(file, given), ({ accept }) => Effect.fromResult(accept([])))

/** Warnings of the valid parts of a policy file. */
export const fileWarnings = (file: string, given: PolicyNotifiers) =>
  openPolicyFile(file, given).pipe(
    Effect.flatMap(({ sound }) => Effect.map(Instant.now, (now) => policyWarnings(sound(), now))),
    Effect.orElseSucceed((): ReadonlyArray<FieldProblem> => []),
  )

const refuse = (message: string) => Effect.fail([{ path: "", line: 1, message }])

/** A policy that a command is given, without its secrets, and the receivers that it does not define. */
export const givenPolicy = Effect.fnUntraced(function* (file: string, given: PolicyNotifiers) {
  const policy = yield* Effect.mapError(
    readPolicyFile(file, given),
    (issues) => new BadPolicy({ file, issues }),
  )
  return { policy, notifiers: receiversGiven(policy, given) }
})

/** A valid policy, and the notifiers of all its receivers. */
export interface LoadedPolicy {
  readonly document: PolicyDocument
  readonly receivers: ReadonlyMap<NotifierName, Notifier>
}

/** A policy of the settings' file. A valid one is read as by the API, so that heartbeats do not wait for a long one. */
const openGiven = Effect.fnUntraced(function* (
  text: string,
  settings: Settings,
): Effect.fn.Return<
  Parameters<typeof acceptedReceivers<ReadonlyArray<PolicyIssue>>>[0],
  ReadonlyArray<PolicyIssue>
> {
  const read = yield* Effect.result(readGiven(text, policyNotifiers(settings), settings))
  const { openPolicyText } = yield* parser
  const opened = () => openPolicyText(text, policyNotifiers(settings))
  if (Result.isFailure(read)) {
    const { accept, sound } = yield* Effect.fromResult(opened())
    const parts = sound()
    return { accept: (found) => accept(atMail(parts, found)), receivers: completeReceivers(parts) }
  }
  return {
    receivers: completeReceivers(read.success),
    // The lines of receivers whose secrets cannot be read are found here.
    accept: (found) =>
      found.length === 0
        ? read
        : Result.flatMap(opened(), ({ accept }) => accept(atMail(read.success, found))),
  }
})

/**
 * Reads the policy file of the settings, and the secrets that it names. Without a file, the policy
 * is empty. Fails with every problem of the file.
 */
export const loadPolicy = Effect.fnUntraced(function* (
  settings: Settings,
): Effect.fn.Return<LoadedPolicy, BadPolicy | BrokenInstall, Scope.Scope | Ids> {
  const { SERVICE_POLICY_FILE: file } = settings
  if (file === undefined) {
    return { document: {}, receivers: yield* withOutsiders(settings, undefined) }
  }
  const { document, made } = yield* readPolicyFileText(file).pipe(
    Effect.flatMap((text) => openGiven(text, settings)),
    Effect.flatMap((opened) => acceptedReceivers(opened, postingOf(settings))),
    Effect.mapError((issues) => new BadPolicy({ file, issues })),
  )
  return { document, receivers: yield* withOutsiders(settings, document.receivers && made) }
})
