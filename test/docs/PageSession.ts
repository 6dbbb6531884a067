import { execFile } from "node:child_process"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import process from "node:process"
import { promisify } from "node:util"
import { Effect, Redacted, type Scope } from "effect"
import { OPERATOR_TOKEN, operate } from "../processes/api.ts"
import { scratchFolderOnDisk, scratchPostgres } from "../processes/scratch.ts"
import { whyNotAtLength } from "../properties/atLength.ts"
import { FOR_SECONDS } from "../processes/program.ts"
import { type Environment, secretOf } from "../processes/secrecy.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import type { CodeBlock } from "./CodeBlock.ts"
import { installedPostgres, postgresPrograms, withoutPostgres } from "./installedPostgres.ts"
import { fileOf, type Modules } from "./Modules.ts"
import { openShell } from "./Shell.ts"

const run = promisify(execFile)

/** The address that pages name, where the session's server is meant. */
const SHOWN_ADDRESS = "http://127.0.0.1:8080"

const PATIENCE_MILLIS = 300_000

/** The surroundings that a page assumes. */
export interface PageSetting {
  /** Where the server keeps its state; no server runs unless it is given. */
  readonly server?: "sqlite" | "memory" | "postgres"
  /** Puts the address of an empty PostgreSQL database into this variable. */
  readonly databaseIn?: string
  /** Calls the programs of PostgreSQL: its databases are then in a server of theirs. */
  readonly callsPostgres?: boolean
  readonly environment?: Environment
  /** Other tests run the same commands and calls: this page is carried out by `npm run test:long`. */
  readonly atLength?: boolean
}

/** The outcome of a block. */
export interface BlockOutcome {
  readonly code: number
  readonly output: string
}

interface Place {
  readonly cwd: string
  readonly environment: Environment
  /** The environment that the server was started with. */
  readonly serverEnvironment: Environment
  server: ServerProcess | undefined
}

/** Why a page cannot be run on this machine; `undefined` if it can. */
export const obstacleTo = ({ atLength = false, callsPostgres = false }: PageSetting): string | undefined => {
  if (atLength && whyNotAtLength !== undefined) return whyNotAtLength
  return callsPostgres ? withoutPostgres : undefined
}

/** Parameters as an address over a network has them: what pages do with it keeps them. */
const PARAMETERS = "?sslmode=disable&sslrootcert=/dev/null"

const databaseAddress = ({ callsPostgres = false }: PageSetting) =>
  callsPostgres && postgresPrograms !== undefined
    ? Effect.map(installedPostgres(postgresPrograms), (url) => `${url}${PARAMETERS}`)
    : Effect.map(scratchPostgres, ({ url }) => Redacted.value(url))

const storageOf = Effect.fnUntraced(function* (
  setting: PageSetting,
): Effect.fn.Return<{ readonly DATABASE_URL?: string } & Environment, never, Scope.Scope> {
  if (setting.server === "sqlite") return {}
  const SERVICE_AUTH_TOKEN = OPERATOR_TOKEN
  if (setting.server === "memory") return { DATABASE_URL: "memory:", SERVICE_AUTH_TOKEN }
  const DATABASE_URL = yield* databaseAddress(setting)
  // Its role is the administrator there.
  const ADMIN_URL = DATABASE_URL.replace(`/tocsin${PARAMETERS}`, `/postgres${PARAMETERS}`)
  return { DATABASE_URL, SERVICE_AUTH_TOKEN, ...(setting.callsPostgres === true ? { ADMIN_URL } : {}) }
})

/** Where the programs of PostgreSQL are found first. */
const pathOf = ({ callsPostgres = false }: PageSetting): Environment =>
  callsPostgres && postgresPrograms !== undefined
    ? { PATH: [dirname(process.execPath), postgresPrograms, process.env["PATH"]].join(delimiter) }
    : {}

/** Waits until the server has given its first service heartbeat, which the doctor looks for. */
const firstMark = (programs: string, url: string) => {
  const [address = ""] = url.split("?")
  const query = Effect.promise(() =>
    run(join(programs, "psql"), [address, "-tAc", "SELECT count(*) FROM service_heartbeat"]),
  )
  return until(
    "the server has given a service heartbeat",
    Effect.map(query, ({ stdout }) => stdout.trim() === "1"),
  )
}

/** A folder like the root of a clone, and a server that was started there. */
const placeFor = Effect.fnUntraced(function* (
  setting: PageSetting,
): Effect.fn.Return<Place, never, Scope.Scope> {
  const { server, databaseIn, environment = {} } = setting
  const cwd = yield* scratchFolderOnDisk
  symlinkSync(join(process.cwd(), "examples"), join(cwd, "examples"))
  const own = databaseIn === undefined ? {} : { [databaseIn]: yield* databaseAddress(setting) }
  const shared = { ...environment, ...pathOf(setting), ...own }
  if (server === undefined) return { cwd, environment: shared, serverEnvironment: {}, server }
  const storage = yield* storageOf(setting)
  const serverEnvironment = { ...storage, ...environment }
  const started = yield* startServer({ cwd, environment: serverEnvironment })
  const address = storage.DATABASE_URL
  if (setting.callsPostgres === true && postgresPrograms !== undefined && address !== undefined)
    yield* firstMark(postgresPrograms, address)
  if (server !== "sqlite") {
    // These storages keep no token file; the pages read one.
    mkdirSync(join(cwd, "data"), { recursive: true })
    writeFileSync(join(cwd, "data", "ui-token"), OPERATOR_TOKEN)
  }
  // Where examples/agent.sh looks for it; its own default is the port that a reader's server has.
  const TOCSIN_URL = started.baseUrl
  return { cwd, environment: { TOCSIN_URL, ...storage, ...shared }, serverEnvironment, server: started }
})

/**
 * Does something while the server is stopped, as a reader would who stops it first; then it is at
 * the same address again.
 */
const whileStopped = Effect.fnUntraced(function* <A>(place: Place, work: Effect.Effect<A>) {
  if (place.server === undefined) return yield* Effect.die(new Error("no server runs that could be stopped"))
  const { port, stop } = place.server
  yield* stop
  const done = yield* work
  const environment = { ...place.serverEnvironment, SERVICE_PORT: String(port) }
  place.server = yield* startServer({ cwd: place.cwd, environment })
  return done
})

/** Waits until no item is being delivered, so that later output does not depend on speed. */
const settled = Effect.fnUntraced(function* ({ cwd, server }: Place) {
  if (server === undefined) return
  const token = readFileSync(join(cwd, "data", "ui-token"), "utf8").trim()
  const isDone = (state: string) =>
    Effect.map(operate(server, "GET", `/api/v1/notifiers/outbox?state=${state}`, { token }), ({ text }) =>
      text.startsWith('{"items":[]'),
    )
  const isSettled = Effect.map(
    Effect.all([isDone("pending"), isDone("sending")]),
    ([nonePending, noneSending]) => nonePending && noneSending,
  )
  yield* until("notifications are sent", isSettled)
})

/** Runs a module as a reader would, by Node.js alone. */
const runModule = Effect.fnUntraced(function* (
  modules: Modules,
  { marks }: CodeBlock,
  place: Place,
  file: string,
) {
  const start = modules.start === undefined ? [] : ["--import", modules.start]
  const args = [...FOR_SECONDS, ...start, ...(marks.has("test") ? ["--test", file] : [file])]
  // Shared by all modules, it saves half of their time.
  const NODE_COMPILE_CACHE = join(modules.folder, ".compiled")
  const env = {
    PATH: process.env["PATH"],
    HOME: place.cwd,
    NO_COLOR: "1",
    NODE_COMPILE_CACHE,
    ...place.environment,
  }
  return yield* Effect.promise(() =>
    run(process.execPath, args, { cwd: place.cwd, env, timeout: PATIENCE_MILLIS }).then(
      ({ stdout, stderr }): BlockOutcome => ({ code: 0, output: stdout + stderr }),
      ({ code, stdout, stderr }: { code?: number; stdout: string; stderr: string }): BlockOutcome => ({
        code: code ?? 1,
        output: stdout + stderr,
      }),
    ),
  )
})

/** Reads a page as its reader does: block after block, at one place. */
export const openPage = Effect.fnUntraced(function* (setting: PageSetting, modules: Modules) {
  const place: Place = yield* placeFor(setting)
  const shell = yield* openShell(place)
  const here = (text: string) =>
    text
      .replaceAll(SHOWN_ADDRESS, place.server?.baseUrl ?? SHOWN_ADDRESS)
      // Recognized anywhere in the server's output.
      .replaceAll(/^KEY=\$\(.*\)/gm, `KEY=${secretOf("web-1")}`)
  const perform = Effect.fnUntraced(function* (block: CodeBlock) {
    if (block.language === "sh") {
      const ran = Effect.orDie(shell.run(here(block.text), block.marks.has("exits")))
      const outcome = yield* block.marks.has("stopped") ? whileStopped(place, ran) : ran
      yield* settled(place)
      return outcome
    }
    const file = fileOf(modules, block)
    writeFileSync(file, here(block.text))
    return yield* runModule(modules, block, place, file)
  })
  return { perform, here, server: () => place.server }
})
