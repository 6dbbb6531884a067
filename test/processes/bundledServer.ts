import { execFileSync } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"

const START = fileURLToPath(new URL("../../scripts/start.mjs", import.meta.url))

/**
 * Builds the server's bundle before the tests, so that concurrent processes do not each build it.
 */
export default (): void => {
  execFileSync(process.execPath, [START, "--version"], { stdio: "inherit" })
}
