import { execFileSync } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"

const START = fileURLToPath(new URL("../../scripts/start.mjs", import.meta.url))

/** Has the server's bundle made before the tests, or every process that they start at once would make it. */
export default (): void => {
  execFileSync(process.execPath, [START, "--version"], { stdio: "inherit" })
}
