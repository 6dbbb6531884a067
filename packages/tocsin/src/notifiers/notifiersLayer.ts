import {
  type BadNotifierSetting,
  mailTimeout,
  type PostingOptions,
  sendTimeout,
} from "@tocsin/adapter-notify/http/HttpPost"
import type { TargetPolicy } from "@tocsin/adapter-notify/http/Target"
import { NotifierName } from "@tocsin/contract/Status"
import type { Ids } from "@tocsin/core/ports/Ids"
import { type Notifier, Notifiers } from "@tocsin/core/ports/Notifiers"
import { defaultDelivery } from "@tocsin/core/usecases/Delivery"
import { TocsinError } from "../TocsinError.ts"
import { Duration, Effect, Layer, Result, Schema } from "effect"
import { checkBuiltIn, isBuiltIn, makeBuiltIn, type NotifierOption } from "./builtInNotifiers.ts"
import { runCustomNotifier } from "./CustomNotifier.ts"

/** The notifiers of a monitor. Fails with code `options` and all problems. */
export const notifiersLayer = (
  options: ReadonlyArray<NotifierOption>,
  posting: PostingOptions,
): Layer.Layer<Notifiers, TocsinError<"options">, Ids> =>
  Layer.effect(
    Notifiers,
    Effect.gen(function* () {
      const made = new Map<Notifier["kind"], Notifier>()
      const problems = Array.from(notifierProblems(options, posting))
      if (problems.length > 0) return yield* Effect.fail(new TocsinError("options", problems.join("\n")))
      for (const [index, option] of options.entries()) {
        const notifier = yield* isBuiltIn(option)
          ? Effect.result(makeBuiltIn(option, posting))
          : Effect.succeed(Result.succeed(runCustomNotifier(option, posting)))
        if (Result.isSuccess(notifier)) made.set(notifier.success.kind, notifier.success)
        else problems.push(sentence(index, notifier.failure))
      }
      if (problems.length > 0) return yield* Effect.fail(new TocsinError("options", problems.join("\n")))
      return made
    }),
  )

const sentence = (index: number, { setting, message }: BadNotifierSetting): string =>
  `notifiers[${index}].${setting === "secrets" ? "secret" : setting} ${message}`

const isNotifierName = Schema.is(NotifierName)

/**
 * The problems of notifiers, each with a path such as `notifiers[0].url`. They repeat no secret.
 */
export const notifierProblems = (given: unknown, policy: TargetPolicy): ReadonlyArray<string> => {
  if (!Array.isArray(given)) return ["notifiers must be an array"]
  const problems: Array<string> = []
  const complain = (problem: string) => void problems.push(problem)
  const named = new Map<string, string>()
  for (const [index, notifier] of given.entries()) {
    const path = `notifiers[${index}]`
    if (!isNotifier(notifier)) {
      complain(`${path} must be webhook(…), slack(…), … or an object { name, send }`)
      continue
    }
    const call = isBuiltIn(notifier) ? `${path} ${notifier.factory}(…)` : path
    if (isBuiltIn(notifier)) checkBuiltIn(notifier, policy)(path, complain)
    const { name } = notifier
    const other = named.get(name)
    if (!isNotifierName(name))
      complain(`${path}.name must be 1 to 64 lower-case letters, digits or _, and begin with a letter`)
    else if (name === "alert_router" && !isBuiltIn(notifier))
      complain(`${path}.name must not be alert_router, which is the name of alertRouter(…) alone`)
    else if (other !== undefined)
      complain(`${call} has the same name as ${other}; give one of them another by its option name`)
    named.set(name, call)
  }
  return problems
}

const isNotifier = (notifier: unknown): notifier is NotifierOption => {
  const { name, send } = Object(notifier)
  return typeof name === "string" && (typeof send === "function" || isBuiltIn(Object(notifier)))
}

/**
 * The port Notifiers on Tocsin's notifiers and your own, as `createMonitor` takes them. Attempts
 * end before `lease`, which is the delivery's.
 */
export const notifiers = (
  options: ReadonlyArray<NotifierOption>,
  {
    denyPrivateTargets = false,
    lease = defaultDelivery.lease,
  }: {
    readonly denyPrivateTargets?: boolean
    readonly lease?: Duration.Input
  } = {},
): Layer.Layer<Notifiers, TocsinError<"options">, Ids> =>
  notifiersLayer(options, {
    denyPrivateTargets,
    timeout: sendTimeout(Duration.fromInputUnsafe(lease)),
    mailTimeout: mailTimeout(Duration.fromInputUnsafe(lease)),
  })
