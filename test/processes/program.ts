import { dirname, join } from "node:path"
import { bundleOf } from "../../scripts/startBundled.mjs"

/**
 * The bundled server and agent, which `npm start` and `npm run agent` run. `bundledPrograms` has built
 * them before the tests, so that no process needs to look whether a source is newer.
 */
export const SERVER = bundleOf("server")
export const AGENT = bundleOf("agent")

/** The program that runs commands one after another, which `bundledPrograms` makes for `test/cli`. */
export const COMMANDS = join(dirname(SERVER), "commands.mjs")

/** Makes Node.js keep what it compiled of the bundle: a third of the time of a short command. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(dirname(SERVER), "compiled") }

/** Options of Node.js with which a process that lives for seconds takes a tenth less of processor time. */
export const FOR_SECONDS: ReadonlyArray<string> = ["--single-threaded-gc", "--min-semi-space-size=16"]
