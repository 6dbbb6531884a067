import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Cause, Context, Duration, Effect, Fiber, Layer, References } from "effect"
import { shownPath } from "../routes.ts"

/** How often failures of one class get a line; with zero, each has its own. */
export const FailureLogInterval = Context.Reference<Duration.Duration>(
  "@tocsin/adapter-http/response/FailureLogInterval",
  { defaultValue: () => Duration.seconds(1) },
)

/** Why a request was answered 500. */
interface RequestFailure {
  readonly message: string
  /** Failures of one class share their lines. There are few classes. */
  readonly errorClass: string
  readonly cause: Cause.Cause<unknown>
  readonly fields: Readonly<Record<string, unknown>>
}

export const logFieldsOf = (request: {
  readonly requestId: string
  readonly method: string
  readonly url: string
  readonly client: string | undefined
}) => ({
  request_id: request.requestId,
  method: request.method,
  path: shownPath(request.url),
  client: request.client,
})

interface Unlogged {
  count: number
  last: RequestFailure | undefined
}

/** Logs failures whose reasons the answers do not state. */
export interface FailureLog {
  readonly storage: (error: StorageError, fields: RequestFailure["fields"]) => Effect.Effect<void>
  readonly defect: (cause: Cause.Cause<unknown>, fields: RequestFailure["fields"]) => Effect.Effect<void>
}

const logEach = (report: (failure: RequestFailure) => Effect.Effect<void>): FailureLog => ({
  storage: (error, fields) =>
    report({
      message: "a request failed because the storage failed",
      errorClass: `storage ${error.reason}`,
      cause: Cause.fail(error),
      fields: { ...fields, reason: error.reason },
    }),
  defect: (cause, fields) =>
    report({
      message: "a request failed unexpectedly",
      errorClass: nameOf(cause),
      cause,
      fields: { ...fields, reason: nameOf(cause) },
    }),
})

const nameOf = (cause: Cause.Cause<unknown>): string => {
  const thrown = Cause.squash(cause)
  return thrown instanceof Error ? thrown.name : "unknown"
}

const logFailure = ({ message, cause, fields }: RequestFailure, count: number): Effect.Effect<void> =>
  Effect.provideService(Effect.logError(message, cause), References.CurrentLogAnnotations, {
    ...fields,
    count,
  })

/** The {@link FailureLog} of a server: a line for every failure unless {@link layer} provides another. */
export const FailureLog = Context.Reference<FailureLog>("@tocsin/adapter-http/response/FailureLog", {
  defaultValue: () => logEach((failure) => logFailure(failure, 1)),
})

/**
 * Logs the first failure of a class immediately, and later ones once a second
 * (`FailureLogInterval`) with their count and the last of them in full. In an outage every request
 * fails, and the log must not fill the disk.
 */
export const layer: Layer.Layer<never> = Layer.effect(
  FailureLog,
  Effect.gen(function* () {
    const interval = yield* FailureLogInterval
    if (Duration.isZero(interval)) return logEach((failure) => logFailure(failure, 1))
    const scope = yield* Effect.scope
    // Not the request's context: its trace and fields do not belong on the lines of later failures.
    const run = Effect.runForkWith(yield* Effect.context())
    const classes = new Map<string, Unlogged>()

    /** Logs the failures since the last line; `false` if there were none. */
    const logLater = Effect.fnUntraced(function* (errorClass: string) {
      const { count, last } = classes.get(errorClass) ?? { count: 0, last: undefined }
      if (last === undefined) return classes.delete(errorClass) && false
      classes.set(errorClass, { count: 0, last: undefined })
      yield* logFailure(last, count)
      return true
    })
    const watch = (errorClass: string) =>
      Effect.repeat(Effect.delay(logLater(errorClass), interval), { while: (isNoisy) => isNoisy })
    yield* Effect.addFinalizer(() => Effect.forEach([...classes.keys()], logLater))

    const report = (failure: RequestFailure): Effect.Effect<void> =>
      Effect.suspend(() => {
        const unlogged = classes.get(failure.errorClass)
        if (unlogged !== undefined) {
          unlogged.count += 1
          unlogged.last = failure
          return Effect.void
        }
        classes.set(failure.errorClass, { count: 0, last: undefined })
        Fiber.runIn(run(watch(failure.errorClass)), scope)
        return logFailure(failure, 1)
      })

    return logEach(report)
  }),
)
