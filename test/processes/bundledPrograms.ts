import { execFileSync } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { isCurrent, SOURCES } from "../../scripts/startBundled.mjs"
import { COMMANDS, COMPILE_CACHE } from "./program.ts"

const COMMANDS_SOURCE = "test/cli/commandsProcess.ts"

const bundleCommands = async (): Promise<void> => {
  if (isCurrent(COMMANDS, [...SOURCES, COMMANDS_SOURCE])) return
  const input = fileURLToPath(new URL(`../../${COMMANDS_SOURCE}`, import.meta.url))
  // None of these commands is the server.
  const program = await rolldown({
    input,
    platform: "node",
    external: /serve\.ts$|httpApiSwagger/,
    onwarn: () => {},
  })
  await program.write({ file: COMMANDS, codeSplitting: false })
}

/**
 * Builds the bundles of server, agent and commands before the tests, so that concurrent processes do not each build
 * them, and has every process that tests start keep what Node.js compiled.
 */
export default async (): Promise<void> => {
  Object.assign(process.env, COMPILE_CACHE)
  for (const script of ["start.mjs", "startAgent.mjs"]) {
    const path = fileURLToPath(new URL(`../../scripts/${script}`, import.meta.url))
    execFileSync(process.execPath, [path, "--version"], { stdio: "ignore" })
  }
  await bundleCommands()
}
