import process from "node:process"
import { setFlagsFromString } from "node:v8"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { loadKinds } from "@tocsin/adapter-notify/policyReceivers"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { ProgramModule } from "./threads/askThread.ts"
import { Cause, Deferred, Effect, Exit, Layer, Option, Result } from "effect"
import { EXIT_CODES } from "./CommandFailure.ts"
import { brokenInstall } from "./BrokenInstall.ts"
import { errorCode } from "./errorCode.ts"
import { loadExtensions } from "./extensions/loadExtensions.ts"
import { observabilityLayer } from "./logging.ts"
import { service } from "./service.ts"
import { checkedSettings, doubtfulSettings } from "./settings/checkedSettings.ts"

interface StartProblem {
  readonly _tag: string
  readonly message: string
  readonly cause?: unknown
}

const LISTEN_MESSAGES: Readonly<Record<string, (reason: string) => string>> = {
  EADDRINUSE: (reason) =>
    `Tocsin cannot start: ${reason}; stop the program that listens there, or set SERVICE_HOST and SERVICE_PORT to another address`,
  EADDRNOTAVAIL: (reason) =>
    `Tocsin cannot start: ${reason}; set SERVICE_HOST to an address of this machine, or to 0.0.0.0 for all its addresses`,
  ENOTFOUND: (reason) =>
    `Tocsin cannot start: ${reason}; set SERVICE_HOST to an address of this machine, or to a name that resolves to one`,
  EACCES: (reason) =>
    `Tocsin cannot start: ${reason}; set SERVICE_PORT to 1024 or more, or allow Tocsin's user to bind lower ports`,
}

const listenMessage = (reason: string): string =>
  `Tocsin cannot start: ${reason}; set SERVICE_HOST and SERVICE_PORT to an address that Tocsin can listen on`

const startFailureMessage = (message: string): string => `Tocsin cannot start: ${message}`

const startMessage = ({ _tag, message, cause }: StartProblem): string => {
  if (_tag !== "ServeError") return startFailureMessage(message)
  if (!(cause instanceof Error)) return listenMessage("the address cannot be listened on")
  return (LISTEN_MESSAGES[errorCode(cause)] ?? listenMessage)(cause.message)
}

/** Notifies systemd, if it asked, that the running service accepts requests and is alive. */
const notices = Layer.effectDiscard(
  Effect.gen(function* () {
    if (process.env["NOTIFY_SOCKET"] === undefined) return
    const { notifySystemd } = yield* Effect.promise(() => import("@tocsin/agent/notifySystemd"))
    const run = Effect.runForkWith(yield* Effect.context())
    const warn = (cause: Error) =>
      void run(Effect.logWarning("cannot notify systemd: check that systemd-notify can run", cause))
    yield* Effect.acquireRelease(
      Effect.sync(() => notifySystemd(warn)),
      (stop) => Effect.sync(stop),
    )
  }),
)

const complain = (message: string): void => {
  process.stderr.write(`${message}\n`)
  process.exitCode = EXIT_CODES.failed.code
}

/** Writes one message for the person who started the server, or a defect in full. */
const report = (cause: Cause.Cause<StartProblem>): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.void
  const failure = Cause.findErrorOption(cause)
  return Option.isSome(failure)
    ? Effect.andThen(
        Effect.logDebug("the start failed", failure.value),
        Effect.sync(() => complain(startMessage(failure.value))),
      )
    : Effect.sync(() =>
        complain(`Tocsin crashed because of a defect; report it with this:\n${Cause.pretty(cause)}`),
      )
}

// One Ctrl-C arrives twice, from the terminal and from npm, and counts as one request.
const SAME_REQUEST_MILLIS = 500

// Service managers kill after ten seconds; a storage that does not answer could take longer.
const TIME_TO_STOP_MILLIS = 9_000

const giveUp = (): void => {
  complain(
    "Tocsin did not shut down in time and was stopped; acknowledged data is safe, and unfinished notifications are sent again",
  )
  process.exit()
}

const boundStop = (): void => void setTimeout(giveUp, TIME_TO_STOP_MILLIS).unref()

/** A second request to stop, or a shutdown that takes too long, ends the process immediately. */
const boundRequestedStop = (): void => {
  let first: number | undefined
  const received = (): void => {
    if (first === undefined) boundStop()
    first ??= performance.now()
    if (performance.now() - first > SAME_REQUEST_MILLIS) process.exit(EXIT_CODES.failed.code)
  }
  process.on("SIGINT", received)
  process.on("SIGTERM", received)
}

// The server outlives the reader of its log: an error of the closed pipe would end the process.
const outliveReaders = (): void => {
  process.stdout.on("error", () => {})
  process.stderr.on("error", () => {})
}

const warnOfUnknownSettings = Effect.suspend(() =>
  Effect.forEach(doubtfulSettings(process.env), ({ message }) => Effect.logWarning(message)),
)

const loadAllKinds = Effect.mapError(loadKinds, brokenInstall("a part of Tocsin"))

/** Fails once the storage is lost, so that a service manager starts the server again. */
const endLost = (lost: Deferred.Deferred<never, StorageError>): Effect.Effect<never, StorageError> =>
  Effect.tapError(Deferred.await(lost), (failure) => {
    boundStop()
    return Effect.logError("the server ends because its storage failed; start it again", failure)
  })

/**
 * Keeps V8 from making objects of requests among the old ones, where each keeps what it refers to until the next full
 * collection. It begins to where objects live long, as while requests wait for PostgreSQL (docs/decisions/README.md, 0051).
 */
const makeYoungObjects = (): void => setFlagsFromString("--no-allocation-site-pretenuring")

/**
 * Runs the server as the main program of this process, which ends with it. `module` is the URL of the
 * process's first module.
 */
export const serve = async (module: string): Promise<void> => {
  await Effect.runPromise(loadExtensions(process.env))
  const settings = checkedSettings(process.env)
  if (Result.isFailure(settings)) {
    complain(settings.failure.listedUnder("Tocsin cannot start with these settings (see --help):"))
    // An extension may have begun work that keeps the process alive.
    process.exit()
  }
  outliveReaders()
  if (settings.success.DATABASE_URL?.kind === "postgres") makeYoungObjects()
  const lost = Deferred.makeUnsafe<never, StorageError>()
  const provided = service(settings.success, (failure) => void Deferred.doneUnsafe(lost, failure))
  const running = notices.pipe(Layer.provide(provided))
  const launched = Effect.andThen(warnOfUnknownSettings, loadAllKinds).pipe(
    Effect.andThen(Layer.launch(running)),
  )
  const main = Effect.provide(Effect.raceFirst(Effect.tapCause(launched, report), endLost(lost)), [
    observabilityLayer(settings.success, process.stderr.isTTY === true),
    Layer.succeed(ProgramModule, module),
    NodeServices.layer,
  ])
  boundRequestedStop()
  NodeRuntime.runMain(main, {
    disableErrorReporting: true,
    // A requested stop is a success: requests in flight have finished.
    teardown: (exit, onExit) => {
      const isStop = Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)
      onExit(isStop ? EXIT_CODES.ok.code : EXIT_CODES.failed.code)
    },
  })
}
