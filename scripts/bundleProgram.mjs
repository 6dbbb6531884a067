import { copyFileSync, renameSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import { rolldown } from "rolldown"

/**
 * Modules that weigh megabytes and import nothing, by their file names, and the files that they become beside the program: a
 * server reads them when somebody asks for what is in them.
 */
const BESIDE = new Map([["httpApiSwagger.js", "viewer.mjs"]])

/**
 * Bundles a program with all that it imports into one file, but for what is loaded on demand and goes beside it. Resolves with
 * the paths of all modules.
 *
 * @param {{ source: string, target: string }} files
 * @returns {Promise<ReadonlyArray<string>>}
 */
export async function bundleProgram({ source, target }) {
  // Under a name of its own until it is whole: another start may be reading the target, or writing it too.
  const unfinished = `${target}.${process.pid}`
  /** @type {Map<string, string>} */
  const beside = new Map()
  const program = await rolldown({
    input: source,
    platform: "node",
    onwarn: () => {},
    plugins: [
      {
        name: "beside",
        async resolveId(name, importer) {
          const file = BESIDE.get(basename(name))
          if (file === undefined) return null
          const found = await this.resolve(name, importer, { skipSelf: true })
          if (found !== null) beside.set(file, found.id)
          return { id: `./${file}`, external: true }
        },
      },
    ],
  })
  const { output } = await program.write({ file: unfinished, format: "esm", codeSplitting: false })
  // First of all, so that a program that is there has them.
  for (const [file, module] of beside) {
    copyFileSync(module, `${unfinished}.${file}`)
    renameSync(`${unfinished}.${file}`, join(dirname(target), file))
  }
  renameSync(unfinished, target)
  return [...Object.keys(output[0].modules), ...beside.values()]
}
