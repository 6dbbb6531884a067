import { execFileSync } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { COMPILE_CACHE } from "./program.ts"

/**
 * Builds the bundles of server and agent before the tests, so that concurrent processes do not each build them,
 * and has every process that tests start keep what Node.js compiled.
 */
export default (): void => {
  Object.assign(process.env, COMPILE_CACHE)
  for (const script of ["start.mjs", "startAgent.mjs"]) {
    const path = fileURLToPath(new URL(`../../scripts/${script}`, import.meta.url))
    execFileSync(process.execPath, [path, "--version"], { stdio: "ignore" })
  }
}
