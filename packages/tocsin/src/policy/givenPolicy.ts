import { policyReceivers } from "@tocsin/adapter-notify/policyReceivers"
import type { PostingOptions } from "@tocsin/adapter-notify/http/HttpPost"
import { type FieldProblem, fieldPath } from "@tocsin/contract/describeIssue"
import type { NotifierName } from "@tocsin/contract/Status"
import { CurrentOperator, libraryOperator } from "@tocsin/core/ports/CurrentOperator"
import { compilePolicy } from "@tocsin/core/policy/compilePolicy"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { readPolicy } from "@tocsin/core/policy/readPolicy"
import { Ids } from "@tocsin/core/ports/Ids"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import { Policies } from "@tocsin/core/usecases/Policies"
import { Context, Effect, Layer, Result, Scope } from "effect"
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

/** Reads a policy, or names every problem by its path. */
export const readGivenPolicy = (
  given: unknown,
  notifiers: ReadonlyArray<NotifierName>,
): Result.Result<PolicyDocument, ReadonlyArray<string>> => {
  const read = readPolicy(given, notifiers)
  if (Result.isFailure(read)) return Result.fail(sentences(read.failure))
  const twice = Object.keys(read.success.receivers ?? {})
    .filter((name) => notifiers.includes(name))
    .map((name) => ({ path: ["receivers", name], message: "is the name of a notifier of this monitor" }))
  return twice.length === 0 ? Result.succeed(read.success) : Result.fail(sentences(twice))
}

const makeReceivers = <Code extends "options" | "validation">(
  { receivers = {} }: PolicyDocument,
  posting: PostingOptions,
  code: Code,
) =>
  Effect.flatMap(policyReceivers(receivers, posting), ({ made, problems }) =>
    problems.length === 0
      ? Effect.succeed(made)
      : Effect.fail(new TocsinError(code, sentences(problems).join("\n"))),
  )

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
      return new Map([...own, ...(yield* makeReceivers(document, posting, "options"))])
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
  const read = readGivenPolicy(given, notifiers)
  if (Result.isFailure(read)) {
    return yield* Effect.fail(new TocsinError("validation", read.failure.join("\n")))
  }
  const document = read.success
  const made = yield* makeReceivers(document, posting, "validation").pipe(
    Effect.provideService(Ids, Context.get(services, Ids)),
    Effect.provideService(Scope.Scope, scope),
  )
  const own = Array.from(Context.get(services, Notifiers)).filter(([name]) => notifiers.includes(name))
  yield* Context.get(services, Policies)
    .replace(compilePolicy(document, notifiers), new Map([...own, ...made]))
    .pipe(Effect.provideService(CurrentOperator, libraryOperator(actor)))
})
