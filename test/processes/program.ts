import { join } from "node:path"
import { fileURLToPath } from "node:url"

const BUNDLES = fileURLToPath(new URL("../../node_modules/.cache/tocsin", import.meta.url))

/**
 * The bundled server and agent, which `npm start` and `npm run agent` run. `bundledPrograms` has built
 * them before the tests, so that no process needs to look whether a source is newer.
 */
export const SERVER = join(BUNDLES, "server.mjs")
export const AGENT = join(BUNDLES, "agent.mjs")

/** Makes Node.js keep what it compiled of the bundle: a third of the time of a short command. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(BUNDLES, "compiled") }
