import { acceptedReceivers, policyReceivers } from "@tocsin/adapter-notify/policyReceivers"
import type { PostingOptions } from "@tocsin/adapter-notify/http/HttpPost"
import { type FieldProblem, fieldPath } from "@tocsin/contract/describeIssue"
import type { NotifierName } from "@tocsin/contract/Status"
import { CurrentOperator, libraryOperator } from "@tocsin/core/ports/CurrentOperator"
import { compilePolicy } from "@tocsin/core/policy/compilePolicy"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { readPolicy, soundReceivers } from "@tocsin/core/policy/readPolicy"
import { Ids } from "@tocsin/core/ports/Ids"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import { Policies } from "@tocsin/core/usecases/Policies"
import { Context, Effect, Layer, Record, Result, Scope } from "effect"
import { readSigned } from "../api/signedCalls.ts"
import { TocsinError } from "../TocsinError.ts"

/** A policy as a program gives it: the document of a policy file, as an object. */
export type PolicyOption = (typeof PolicyDocument)["Encoded"]

/** The names that a policy may use, and the way in which its receivers send. */
export interface PolicySurroundings {
  /** The notifiers of the program, which are receivers by their names. */
  readonly notifiers: ReadonlyArray<NotifierName>
  readonly posting: PostingOptions
}

const sentences = (problems: ReadonlyArray<FieldProblem>): ReadonlyArray<string> =>
  problems.map(({ message, path }) => `${fieldPath(["policy", ...path])} ${message}`)

type Receivers = NonNullable<PolicyDocument["receivers"]>

/** Reads a policy. `accept` names every problem by its path, with those that the caller has found in `receivers`. */
const openGivenPolicy = (given: unknown, notifiers: ReadonlyArray<NotifierName>) => {
  const read = readPolicy(given, notifiers)
  const receivers = soundReceivers(given, read)
  const twice = Object.keys(receivers)
    .filter((name) => notifiers.includes(name))
    .map((name) => ({ path: ["receivers", name], message: "is the name of a notifier of this monitor" }))
  return {
    /** Those without a known problem. */
    receivers: Record.filter(receivers, (_, name) => !notifiers.includes(name)),
    accept: (found: ReadonlyArray<FieldProblem>): Result.Result<PolicyDocument, ReadonlyArray<string>> => {
      const problems = [...(Result.isFailure(read) ? read.failure : []), ...twice, ...found]
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
  problemsOf: (receivers: Receivers) => ReadonlyArray<FieldProblem> = () => [],
): Result.Result<PolicyDocument, ReadonlyArray<string>> => {
  const { accept, receivers } = openGivenPolicy(given, notifiers)
  return accept(problemsOf(receivers))
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
      const { made, problems } = yield* policyReceivers(document.receivers ?? {}, posting)
      if (problems.length > 0)
        return yield* Effect.fail(new TocsinError("options", sentences(problems).join("\n")))
      return new Map([...own, ...made])
    }),
  ).pipe(Layer.provide(notifiers))

/**
 * Puts another policy in force. Former receivers live as long as the monitor, because attempts may
 * be under way.
 */
export const replacePolicy = Effect.fnUntraced(function* (
  { by, policy: given }: { readonly policy: unknown; readonly by: unknown },
  { notifiers, posting }: PolicySurroundings,
  services: Context.Context<Notifiers | Policies | Ids>,
  scope: Scope.Scope,
) {
  const actor = (yield* Effect.fromResult(readSigned([by]))).by
  const { document, made } = yield* acceptedReceivers(openGivenPolicy(given, notifiers), posting).pipe(
    Effect.mapError((lines) => new TocsinError("validation", lines.join("\n"))),
    Effect.provideService(Ids, Context.get(services, Ids)),
    Effect.provideService(Scope.Scope, scope),
  )
  const own = Array.from(Context.get(services, Notifiers)).filter(([name]) => notifiers.includes(name))
  yield* Context.get(services, Policies)
    .replace(compilePolicy(document, notifiers), new Map([...own, ...made]))
    .pipe(Effect.provideService(CurrentOperator, libraryOperator(actor)))
})
