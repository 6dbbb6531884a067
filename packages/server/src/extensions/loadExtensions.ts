import { Console } from "node:console"
import { existsSync } from "node:fs"
import process from "node:process"
import { Worker } from "node:worker_threads"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { Duration, Effect, Result } from "effect"
import type { NotifierOption } from "tocsin/internal/notifiers/notifiers"
import type { StorageChoice } from "tocsin/internal/storages/storages"
import { version } from "../version.ts"
import { withoutSecrets } from "../output/texts.ts"
import { type Environment, readSettings } from "../settings/checkedSettings.ts"
import type { Settings } from "../settings/Settings.ts"
import { type Extensions, keepExtensions, loadedExtensions, moduleProblem } from "./Extensions.ts"
import { importModule, isPath } from "./importModule.ts"
import { peerWarning } from "./peerWarning.ts"

/** How long the imports may take together. */
interface ImportLimits {
  /** Until a line names them. */
  readonly slow: Duration.Duration
  /** Until those that have not ended are refused. */
  readonly within: Duration.Duration
  /** Until the process ends if they let nothing else run. */
  readonly endless: Duration.Duration
}

const LIMITS: ImportLimits = {
  slow: Duration.seconds(2),
  within: Duration.seconds(30),
  endless: Duration.seconds(32),
}

/** A module that loops stops all else of this thread, signals included: another one says so, and ends the process. */
const watchImports = (modules: ReadonlyArray<string>, { slow, endless }: ImportLimits) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const names = plainLine(modules.join(", "))
      const looping = modules.length === 1 ? names : `one of ${names}`
      const workerData = {
        slow: `tocsin: still importing ${names}: look for a loop or a wait in its import\n`,
        slowMillis: Duration.toMillis(slow),
        endless: `tocsin: ended, as the import of ${looping} loops: remove the loop\n`,
        endlessMillis: Duration.toMillis(endless),
      }
      const watching = new Worker(WATCH, { eval: true, workerData })
      watching.unref()
      const sign = setInterval(() => watching.postMessage("still turning"), Duration.toMillis(endless) / 4)
      return { sign, watching }
    }),
    ({ sign, watching }) => {
      clearInterval(sign)
      return Effect.promise(() => watching.terminate())
    },
  )

const WATCH = `
const { writeSync } = require("node:fs")
const { parentPort, workerData } = require("node:worker_threads")
const say = (line) => {
  try {
    writeSync(2, line)
  } catch {
    // Its reader has gone.
  }
}
setTimeout(() => say(workerData.slow), workerData.slowMillis)
const end = setTimeout(() => {
  say(workerData.endless)
  process.kill(process.pid, "SIGKILL")
}, workerData.endlessMillis)
parentPort.on("message", () => end.refresh())
`

const LONGEST_REASON = 300

/** A module may throw what cannot be read. */
const reasonOf = (cause: unknown): string =>
  Result.getOrElse(
    Result.try(() => {
      const reason = cause instanceof Error ? cause.message : cause
      const text = String(reason)
      const shown = text === "[object Object]" ? JSON.stringify(reason) : text
      return withoutSecrets(plainLine(shown)).slice(0, LONGEST_REASON)
    }),
    () => "it threw what cannot be shown",
  )

/** Advice behind the reason of an import that failed. */
const remedyFor = (module: string, cause: unknown): string => {
  if (!isPath(module) && existsSync(module)) return `; write ./${module} for the file`
  // A mistake in the code: its message lacks the place, which Node.js shows.
  return cause instanceof Error && cause.name !== "Error"
    ? `; node --eval "import('${module}')" shows the line`
    : ""
}

const TOO_SLOW = `which was not imported within ${Duration.toSeconds(LIMITS.within)} s: move work from its import to send or open`
const FORM = "whose default export must be an object { notifiers?, storage? }, as createMonitor takes them"

/** Why a default export has another form, and what to do. */
const formProblem = (module: string, exported: unknown, unknown: ReadonlyArray<string> = []): string => {
  if (typeof exported === "function") return `${FORM}, and is a function: export what it returns`
  if (unknown.length > 0) return `${FORM}, without ${unknown.join(", ")}`
  if (Array.isArray(exported)) return `${FORM}, and is a list`
  if (exported instanceof Promise) return `${FORM}, and is a promise: await it`
  if (exported === undefined && isPath(module))
    return "which has no default export: end it with export default { notifiers: [pager] } or { storage }"
  return isPath(module) ? FORM : `${FORM}: a package may have it elsewhere, such as at ${module}/extension`
}

/** The notifiers and the storage of one module. */
interface Given {
  readonly notifiers: ReadonlyArray<NotifierOption>
  readonly storage?: StorageChoice | undefined
}

// Loaded where a module is named: other servers do without it.
const library = Effect.promise(async () => ({
  ...(await import("tocsin/internal/notifiers/notifiers")),
  ...(await import("tocsin/internal/storages/storages")),
}))

const unhandled = Effect.promise(() => import("./unhandled.ts"))

/** Promises, lists and instances of classes have neither field, or not as their own. */
const isPlainObject = (given: unknown): given is object =>
  typeof given === "object" &&
  given !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(given))

/** Reads the default export of a module, or says what is wrong with it. */
const readExport = Effect.fnUntraced(function* (
  module: string,
  exported: unknown,
  { SERVICE_DENY_PRIVATE_TARGETS: denyPrivateTargets = false }: Partial<Settings>,
): Effect.fn.Return<Given, ReadonlyArray<string>> {
  const { isStorageChoice, keyValue, notifierProblems } = yield* library
  if (!isPlainObject(exported)) return yield* Effect.fail([formProblem(module, exported)])
  const { notifiers = [], storage, ...others }: Readonly<Record<string, unknown>> = { ...exported }
  const unknown = Object.keys(others)
  if (unknown.length > 0) return yield* Effect.fail([formProblem(module, exported, unknown)])
  if (typeof storage === "function") return yield* Effect.fail(["whose storage is a function: call it"])
  const isOwn = storage !== undefined && !isStorageChoice(storage)
  const choice = isOwn ? keyValue(storage as Parameters<typeof keyValue>[0]) : storage
  const problems = [...notifierProblems(notifiers, { denyPrivateTargets }), ...(choice?.problems ?? [])]
  if (problems.length > 0) return yield* Effect.fail(problems.map((problem) => `where ${problem}`))
  // No problem was found.
  return { notifiers: notifiers as Given["notifiers"], storage: choice }
})

/** Imports and reads one module. */
const load = (module: string, values: Partial<Settings>, within: Duration.Duration) =>
  importModule(module).pipe(
    Effect.mapError((cause) => [`which cannot be imported: ${reasonOf(cause)}${remedyFor(module, cause)}`]),
    Effect.timeoutOrElse({ duration: within, orElse: () => Effect.fail([TOO_SLOW]) }),
    Effect.flatMap((imported) => readExport(module, Object(imported).default, values)),
    Effect.catchDefect((cause) =>
      Effect.fail([`whose default export cannot be read; make it a plain object: ${reasonOf(cause)}`]),
    ),
    Effect.mapError((problems) => problems.map((problem) => moduleProblem(module, problem))),
  )

/** A storage whose failures name the module that gives it. */
const namingModule = (choice: StorageChoice, module: string): StorageChoice => {
  if (choice.kind !== "keyValue") return choice
  const { name, open } = choice.options
  return { ...choice, options: { name: `${name} of ${module}`, open: open.bind(choice.options) } }
}

/** Puts together what modules give. A name, and the storage, belong to the first. */
const together = (given: ReadonlyArray<Given & { readonly module: string }>) => {
  const problems: Array<string> = []
  const owners = new Map<string, string>()
  let storage: Extensions["storage"]
  for (const { module, notifiers, storage: choice } of given) {
    for (const { name } of notifiers) {
      const owner = owners.get(name)
      if (owner === undefined) owners.set(name, module)
      else
        problems.push(
          moduleProblem(module, `whose notifier ${name} has the name of one of ${owner}: rename it`),
        )
    }
    if (choice === undefined) continue
    if (storage === undefined) storage = { module, choice: namingModule(choice, module) }
    else
      problems.push(moduleProblem(module, `which gives a storage as ${storage.module} does: leave one out`))
  }
  const notifiers = given.flatMap((one) => one.notifiers.map((each) => [one.module, each] as const))
  return { extensions: { notifiers, storage }, problems }
}

/** The settings that the import needs: no secrets, whose files may be pipes, which are read once. */
const READ_FIRST = [
  "SERVICE_EXTENSIONS",
  "SERVICE_DENY_PRIVATE_TARGETS",
  "SERVICE_LOG_FORMAT",
  "SERVICE_LOG_LEVEL",
] as const

/**
 * Imports the modules of SERVICE_EXTENSIONS once, before settings are checked, which refuse what is wrong with them
 * (docs/rules.md#extensions).
 */
export const loadExtensions = Effect.fnUntraced(function* (environment: Environment, limits = LIMITS) {
  const { values } = readSettings(environment, READ_FIRST)
  const { SERVICE_EXTENSIONS: modules } = values
  if (modules === undefined || loadedExtensions(modules) !== undefined) return
  const { noteUnhandled, reportUnhandled } = yield* unhandled
  noteUnhandled()
  // Standard output is that of the command.
  globalThis.console = new Console(process.stderr)
  const reading = Effect.forEach(
    modules,
    (module) =>
      load(module, values, limits.within).pipe(
        Effect.map((given) => ({ module, ...given })),
        Effect.result,
      ),
    { concurrency: "unbounded" },
  )
  const read = yield* Effect.scoped(Effect.andThen(watchImports(modules, limits), reading))
  const { extensions, problems } = together(
    read.flatMap((one) => (Result.isSuccess(one) ? [one.success] : [])),
  )
  keepExtensions(modules, {
    extensions,
    warnings: modules.flatMap((module) => peerWarning(module, version)),
    problems: [...read.flatMap((one) => (Result.isFailure(one) ? one.failure : [])), ...problems],
  })
  reportUnhandled(extensions, values)
})
