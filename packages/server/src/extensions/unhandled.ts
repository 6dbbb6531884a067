import process from "node:process"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { Effect } from "effect"
import { maskOf } from "tocsin/internal/notifiers/maskSecrets"
import { thrownText } from "tocsin/internal/notifiers/thrownText"
import { EXIT_CODES } from "../CommandFailure.ts"
import { loggingLayer } from "../logging.ts"
import { withoutSecrets } from "../output/texts.ts"
import type { Settings } from "../settings/Settings.ts"
import type { Extensions } from "./Extensions.ts"
import { importedPlaces } from "./importModule.ts"

const REJECTED =
  "a promise was rejected and nothing handles it: look for a missing await or catch in an extension"

const REMEDY = "look for an error event that it does not listen to, or a timer that throws"

/** The frame of a stack that lies in an extension. Errors of sockets have none: Node.js makes them. */
const frameIn = (stack: string): string | undefined =>
  stack.split("\n").find((line) => importedPlaces().some((place) => line.includes(`${place}:`)))

const uncaughtMessage = (stack: string): string => {
  const frame = frameIn(stack)
  return frame === undefined
    ? `an uncaught exception ends this process; if an extension made it, ${REMEDY}`
    : `an extension threw where nothing can catch it, which ends this process (${frame.trim()}): ${REMEDY}`
}

const unreported: Array<unknown> = []
/** Absent until the modules are imported: they state the secrets to hide. */
let report: Readonly<Record<"rejected" | "thrown", (cause: unknown) => void>> | undefined

/** A module that calls process.exit would end a start or a command as a success, without a line. */
const failExit = (): void => {
  // A person who stops the process leaves no frame.
  const frame = frameIn(String(new Error("exit").stack))
  if (frame === undefined) return
  process.stderr.write(
    `tocsin: an extension ended this process (${plainLine(frame.trim())}): remove its process.exit\n`,
  )
  process.exitCode = EXIT_CODES.failed.code
}

let isNoting = false
/** Notes what nothing handles, which Node.js would end the process with, in lines that are no log. */
export const noteUnhandled = (): void => {
  if (isNoting) return
  isNoting = true
  process.on("exit", failExit)
  process.on("unhandledRejection", (cause) => {
    if (report === undefined) unreported.push(cause)
    else report.rejected(cause)
  })
  process.on("uncaughtException", (cause) => {
    const stack = thrownText(cause)
    if (report === undefined)
      process.stderr.write(`tocsin: ${withoutSecrets(plainLine(`${uncaughtMessage(stack)}: ${stack}`))}\n`)
    else report.thrown(cause)
    process.exit(EXIT_CODES.failed.code)
  })
}

/** From now on logs what nothing handles, rejections that came before first. */
export const reportUnhandled = (
  { notifiers }: Extensions,
  { SERVICE_LOG_FORMAT, SERVICE_LOG_LEVEL = "info" }: Partial<Settings>,
): void => {
  const mask = maskOf(notifiers.flatMap(([, one]) => ("secrets" in one ? (one.secrets ?? []) : [])))
  const logging = loggingLayer({ SERVICE_LOG_FORMAT, SERVICE_LOG_LEVEL }, process.stderr.isTTY === true)
  const log = (entry: Effect.Effect<void>) => Effect.runSync(Effect.provide(entry, logging))
  report = {
    rejected: (cause) => log(Effect.logError(`${REJECTED}: ${mask(thrownText(cause))}`)),
    thrown: (cause) => {
      const stack = thrownText(cause)
      log(Effect.logFatal(mask(`${uncaughtMessage(stack)}: ${stack}`)))
    },
  }
  unreported.splice(0).forEach(report.rejected)
}
