import type { BadNotifierSetting } from "@tocsin/adapter-notify/BadNotifierSetting"
import { type PostingOptions, sendTimeout } from "@tocsin/adapter-notify/http/HttpPost"
import type { Ids } from "@tocsin/core/ports/Ids"
import { type Notifier, Notifiers } from "@tocsin/core/ports/Notifiers"
import { type Duration, Effect, Layer, Result } from "effect"
import { TocsinError } from "../TocsinError.ts"
import { notifierProblems } from "./notifierProblems.ts"
import type { NotifierOption } from "./NotifierOption.ts"
import { runCustomNotifier } from "./runCustomNotifier.ts"

/** How notifiers send. */
export interface SendingOptions {
  /** Refuses private addresses. */
  readonly denyPrivateTargets: boolean
  /** Length of a claim: attempts end before it. */
  readonly lease: Duration.Duration
}

/** The notifiers of a monitor. Fails with code `options`, all that is wrong being told at once. */
export const notifiersLayer = (
  options: ReadonlyArray<NotifierOption>,
  { denyPrivateTargets, lease }: SendingOptions,
): Layer.Layer<Notifiers, TocsinError<"options">, Ids> =>
  Layer.effect(
    Notifiers,
    Effect.gen(function* () {
      const posting: PostingOptions = { denyPrivateTargets, timeout: sendTimeout(lease) }
      const made = new Map<Notifier["kind"], Notifier>()
      const problems = Array.from(notifierProblems(options, posting))
      if (problems.length > 0) return yield* Effect.fail(new TocsinError("options", problems.join("\n")))
      for (const [index, option] of options.entries()) {
        const notifier = yield* "make" in option
          ? Effect.result(option.make(posting))
          : Effect.succeed(Result.succeed(runCustomNotifier(option, posting.timeout)))
        if (Result.isSuccess(notifier)) made.set(notifier.success.kind, notifier.success)
        else problems.push(sentence(index, notifier.failure))
      }
      if (problems.length > 0) return yield* Effect.fail(new TocsinError("options", problems.join("\n")))
      return made
    }),
  )

const sentence = (index: number, { setting, message }: BadNotifierSetting): string =>
  `notifiers[${index}].${setting === "secrets" ? "secret" : setting} ${message}`
