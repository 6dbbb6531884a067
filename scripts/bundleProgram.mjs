import { renameSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { bundleConsole } from "../packages/console/bundle.mjs"
import { agentFiles } from "./build/agentPackage.ts"
import { COMMENTS, takenModules } from "./takenModules.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

/** @typedef {{ file: string, make: () => Promise<{ modules: ReadonlyArray<string> }> }} Made */

/**
 * The server's imports of finished files, and the modules with them beside it.
 *
 * @type {ReadonlyMap<string, Made>}
 */
const MADE = new Map([
  ["@tocsin/console/files", { file: "console.mjs", make: bundleConsole }],
  ["@tocsin/agent/files", { file: "agentFiles.mjs", make: () => agentFiles(root) }],
])

/**
 * Modules of megabytes without imports, which export texts, and the files that they become beside the program. The
 * server loads them on demand.
 */
const BESIDE = new Map([["httpApiSwagger.js", "viewer.mjs"]])

/**
 * A module of the same texts, compressed: they are the largest of the package, and few ask for them.
 *
 * @param {string} module
 * @returns {Promise<string>}
 */
async function packedModule(module) {
  const lines = Object.entries(await import(pathToFileURL(module).href)).map(
    ([name, text]) => `export const ${name} = text("${gzipSync(text, { level: 9 }).toString("base64")}")\n`,
  )
  return `import { Buffer } from "node:buffer"
import { gunzipSync } from "node:zlib"
const text = (packed) => gunzipSync(Buffer.from(packed, "base64")).toString()
${lines.join("")}`
}

/**
 * Bundles a program and its imports into one file, with modules loaded on demand beside it. Resolves
 * with the paths of all modules.
 *
 * @param {{ source: string, target: string, format?: "esm" | "cjs" }} files
 * @returns {Promise<ReadonlyArray<string>>}
 */
export async function bundleProgram({ source, target, format = "esm" }) {
  // A temporary name until it is complete: another start may read or write the target.
  const unfinished = `${target}.${process.pid}`
  /** @type {Map<string, string>} */
  const beside = new Map()
  /** @type {Set<Made>} */
  const made = new Set()
  const program = await rolldown({
    input: source,
    platform: "node",
    onwarn: () => {},
    plugins: [
      takenModules,
      {
        name: "beside",
        async resolveId(name, importer) {
          const finished = MADE.get(name)
          if (finished !== undefined) {
            made.add(finished)
            return { id: `./${finished.file}`, external: true }
          }
          const file = BESIDE.get(basename(name))
          if (file === undefined) return null
          const found = await this.resolve(name, importer, { skipSelf: true })
          if (found !== null) beside.set(file, found.id)
          return { id: `./${file}`, external: true }
        },
      },
    ],
  })
  const { output } = await program.write({
    file: unfinished,
    format,
    codeSplitting: false,
    comments: COMMENTS,
  })
  // First, so that an existing program has them.
  for (const [file, module] of beside) {
    writeFileSync(`${unfinished}.${file}`, await packedModule(module))
    renameSync(`${unfinished}.${file}`, join(dirname(target), file))
  }
  const others = await Promise.all(Array.from(made, (finished) => writeMade(finished, dirname(target))))
  renameSync(unfinished, target)
  return [...Object.keys(output[0].modules), ...beside.values(), ...others.flat()]
}

/**
 * Writes the finished files of an import as a module. Resolves with the paths of the modules in them.
 *
 * @param {Made} finished
 * @param {string} folder
 */
async function writeMade({ file, make }, folder) {
  const { modules, ...files } = await make()
  const unfinished = join(folder, `${file}.${process.pid}`)
  writeFileSync(unfinished, `export const files = async () => (${JSON.stringify(files)})\n`)
  renameSync(unfinished, join(folder, file))
  return modules
}
