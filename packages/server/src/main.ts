import { readFileSync } from "node:fs"
import process from "node:process"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer } from "effect"
import { loggingLayer } from "./logging.ts"
import { service } from "./service.ts"
import { helpText } from "./settings/helpText.ts"
import { readSettings } from "./settings/Settings.ts"

const version = (): string => {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8")
  // Our own manifest, which always holds a version.
  return (JSON.parse(text) as { version: string }).version
}

const complain = (message: string): void => {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}

const explain = (failure: {
  readonly _tag: string
  readonly message: string
  readonly cause?: unknown
}): string => {
  if (failure._tag !== "ServeError") return failure.message
  const reason = failure.cause instanceof Error ? failure.cause.message : "the address cannot be listened on"
  return `${reason}; stop what listens there, or set SERVICE_HOST and SERVICE_PORT to another address`
}

// One press of Ctrl-C reaches this process twice, from the terminal and from npm: that is one request to stop.
const SAME_REQUEST_MILLIS = 500

/** A second request to stop, while the first is being followed, ends the process at once. */
const exitOnSecondSignal = (): void => {
  let first: number | undefined
  const received = (): void => {
    first ??= performance.now()
    if (performance.now() - first > SAME_REQUEST_MILLIS) process.exit(1)
  }
  process.on("SIGINT", received)
  process.on("SIGTERM", received)
}

const serve = (): void => {
  const settings = readSettings(process.env)
  if (settings._tag === "Failure") return complain(settings.failure.message)
  const main = Layer.launch(service(settings.success)).pipe(
    Effect.tapErrorTag(["StartFailure", "StorageError", "PepperChanged", "ServeError"], (failure) =>
      Effect.andThen(
        Effect.logDebug("the start failed", failure),
        Effect.sync(() => complain(`Tocsin cannot start: ${explain(failure)}`)),
      ),
    ),
    Effect.provide([loggingLayer(settings.success, process.stderr.isTTY === true), NodeServices.layer]),
  )
  exitOnSecondSignal()
  NodeRuntime.runMain(main, {
    disableErrorReporting: true,
    // A stop on request is no failure: whatever was in flight has been finished.
    teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1),
  })
}

const [option] = process.argv.slice(2)
if (option === undefined) serve()
else if (option === "--help" || option === "-h") process.stdout.write(helpText())
else if (option === "--version") process.stdout.write(`${version()}\n`)
else complain(`${option} is not an option of Tocsin; try --help`)
