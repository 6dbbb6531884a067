import { renameSync } from "node:fs"
import process from "node:process"
import { rolldown } from "rolldown"

/**
 * Bundles a program with all that it imports into one file. Resolves with the paths of the modules that are in it.
 *
 * @param {{ source: string, target: string }} files
 * @returns {Promise<ReadonlyArray<string>>}
 */
export async function bundleProgram({ source, target }) {
  // Under a name of its own until it is whole: another start may be reading the target, or writing it too.
  const unfinished = `${target}.${process.pid}`
  const program = await rolldown({
    input: source,
    platform: "node",
    // Loaded by `pg` only where it is installed.
    external: ["pg-native"],
    onwarn: () => {},
  })
  const { output } = await program.write({ file: unfinished, format: "esm", codeSplitting: false })
  renameSync(unfinished, target)
  return Object.keys(output[0].modules)
}
