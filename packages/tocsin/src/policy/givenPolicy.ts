import { acceptedReceivers, policyReceivers } from "@tocsin/adapter-notify/policyReceivers"
import type { PostingOptions } from "@tocsin/adapter-notify/http/HttpPost"
import { describeIssue, type FieldProblem, fieldPath } from "@tocsin/contract/formats/describeIssue"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { CurrentOperator, libraryOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { compileGiven, withUnavailable } from "@tocsin/core/heart/policy/compilePolicy"
import { atMail, completeReceivers } from "@tocsin/contract/receivers/mailServer"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { soundParts } from "@tocsin/core/heart/policy/readPolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { refuseMany } from "@tocsin/core/heart/usecases/applyingPolicies"
import { Policies } from "@tocsin/core/lists/Policies"
import { Context, Effect, Layer, Record, Result, Schema, SchemaParser, Scope } from "effect"
import { asJson } from "@tocsin/client/calls/endpoints"
import { readSigned } from "../api/Calls.ts"
import { TocsinError } from "../TocsinError.ts"

/** A policy as a program gives it: the document of a policy file, as an object. */
export type PolicyOption = (typeof PolicyDocument)["Encoded"]

/** The names that a policy may use, and the way in which its receivers send. */
export interface PolicySurroundings {
  /** The notifiers of the program, which are receivers by their names. */
  readonly notifiers: ReadonlyArray<NotifierName>
  readonly posting: PostingOptions
}

const decodeOptions = SchemaParser.decodeUnknownResult(
  Schema.Struct({ confirm: Schema.optionalKey(Schema.Boolean) }),
  { onExcessProperty: "error" },
)

const readOptions = (given: unknown) =>
  Result.mapError(
    decodeOptions(asJson(given ?? {})),
    (issue) => new ValidationError({ message: describeIssue(issue, "the arguments") }),
  )

const sentences = (problems: ReadonlyArray<FieldProblem>): ReadonlyArray<string> =>
  problems.map(({ message, path }) => `${fieldPath(["policy", ...path])} ${message}`)

type Receivers = NonNullable<PolicyDocument["receivers"]>

/** Reads a policy. `accept` names every problem by its path, with those that the caller has found in `receivers`. */
const openGivenPolicy = (given: unknown, notifiers: ReadonlyArray<NotifierName>) => {
  const read = readPolicy(given, notifiers)
  const parts = soundParts(given, read)
  const receivers = completeReceivers(parts)
  const twice = Object.keys(receivers)
    .filter((name) => notifiers.includes(name))
    .map((name) => ({ path: ["receivers", name], message: "is the name of a notifier of this monitor" }))
  return {
    receivers: Record.filter(receivers, (_, name) => !notifiers.includes(name)),
    accept: (found: ReadonlyArray<FieldProblem>): Result.Result<PolicyDocument, ReadonlyArray<string>> => {
      const problems = [...(Result.isFailure(read) ? read.failure : []), ...twice, ...atMail(parts, found)]
      return Result.isSuccess(read) && problems.length === 0
        ? Result.succeed(read.success)
        : Result.fail(sentences(problems))
    },
  }
}

/** Reads a policy, or names every problem by its path, with those that `problemsOf` finds in its receivers. */
export const readGivenPolicy = (
  given: unknown,
  notifiers: ReadonlyArray<NotifierName>,
  problemsOf: (policy: { readonly receivers: Receivers }) => ReadonlyArray<FieldProblem> = () => [],
): Result.Result<PolicyDocument, ReadonlyArray<string>> => {
  const { accept, receivers } = openGivenPolicy(given, notifiers)
  return accept(problemsOf({ receivers }))
}

/** Notifiers of a program, and those of the receivers that its policy defines. */
export const withReceivers = <E>(
  notifiers: Layer.Layer<Notifiers, E, Ids>,
  document: PolicyDocument,
  posting: PostingOptions,
): Layer.Layer<Notifiers, E | TocsinError<"options">, Ids> =>
  Layer.effect(
    Notifiers,
    Effect.gen(function* () {
      const own = yield* Notifiers
      const { made, problems } = yield* policyReceivers(completeReceivers(document), posting)
      if (problems.length > 0)
        return yield* Effect.fail(
          new TocsinError("options", sentences(atMail(document, problems)).join("\n")),
        )
      return new Map([...own, ...made])
    }),
  ).pipe(Layer.provide(notifiers))

/** Puts another policy in force. Former receivers live as long as the monitor, because attempts may be under way. */
export const replacePolicy = Effect.fnUntraced(function* (
  { options, policy: given }: { readonly policy: unknown; readonly options: unknown },
  { notifiers, posting }: PolicySurroundings,
  services: Context.Context<Notifiers | Policies | Ids>,
  scope: Scope.Scope,
) {
  const { by, input } = yield* Effect.fromResult(readSigned([options], 1))
  const { confirm } = yield* Effect.fromResult(readOptions(input[0]))
  const { firings, given: outside, replace, unusable } = Context.get(services, Policies)
  const mayLack = (lacking: ReadonlyMap<NotifierName, string>) =>
    confirm === true ? Effect.succeed(true) : Effect.map(unusable(lacking), ({ length }) => length === 0)
  const opened = { ...openGivenPolicy(given, notifiers), mayLack }
  const { document, made, unavailable } = yield* acceptedReceivers(opened, posting).pipe(
    Effect.mapError((failure) =>
      failure instanceof StorageError ? failure : new TocsinError("validation", failure.join("\n")),
    ),
    Effect.provideService(Ids, Context.get(services, Ids)),
    Effect.provideService(Scope.Scope, scope),
  )
  const own = Array.from(Context.get(services, Notifiers)).filter(([name]) => notifiers.includes(name))
  const policy = withUnavailable(compileGiven(document, outside()), unavailable)
  if (confirm !== true) yield* refuseMany(yield* firings(policy))
  yield* Effect.provideService(
    replace(policy, new Map([...own, ...made])),
    CurrentOperator,
    libraryOperator(by),
  )
})
