import { copyFileSync, renameSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import { rolldown } from "rolldown"
import { bundleConsole } from "../packages/console/bundle.mjs"

/** The server's import of the console, and the module with the finished files beside it. */
const CONSOLE = { name: "@tocsin/console/files", file: "console.mjs" }

/**
 * Modules of megabytes without imports, and the files that they become beside the program. The
 * server loads them on demand.
 */
const BESIDE = new Map([["httpApiSwagger.js", "viewer.mjs"]])

/**
 * Modules of Node.js whose import reads all of their properties: that of `node:http` loads undici for
 * its WebSocket, that of `node:tls` reads the certificates. Taken without an import, a program starts
 * with a tenth less of processor time. `node:sqlite`, and parts of `node:util`, are not in an older
 * Node.js, which would end at their import before the agent says so.
 */
const TAKEN = new Set(["node:http", "node:https", "node:sqlite", "node:tls", "node:util"])

/** Licences, and what further bundlers read. */
export const COMMENTS = { legal: true, annotation: true, jsdoc: false }

/**
 * A module that takes the plain properties of one of {@link TAKEN}.
 *
 * @param {string} name
 */
function taking(name) {
  const properties = Object.getOwnPropertyDescriptors(process.getBuiltinModule(name))
  const plain = Object.keys(properties).filter((property) => "value" in (properties[property] ?? {}))
  return `const module = globalThis.process.getBuiltinModule("${name}")
export const { ${plain.join(", ")} } = module
export default module`
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
  let hasConsole = false
  const program = await rolldown({
    input: source,
    platform: "node",
    onwarn: () => {},
    plugins: [
      {
        name: "taken",
        resolveId: (name) => (TAKEN.has(name) ? `\0${name}` : null),
        load: (id) => (TAKEN.has(id.slice(1)) ? taking(id.slice(1)) : null),
      },
      {
        name: "beside",
        async resolveId(name, importer) {
          if (name === CONSOLE.name) {
            hasConsole = true
            return { id: `./${CONSOLE.file}`, external: true }
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
    copyFileSync(module, `${unfinished}.${file}`)
    renameSync(`${unfinished}.${file}`, join(dirname(target), file))
  }
  const consoleModules = hasConsole ? await writeConsole(dirname(target)) : []
  renameSync(unfinished, target)
  return [...Object.keys(output[0].modules), ...beside.values(), ...consoleModules]
}

/** @param {string} folder */
async function writeConsole(folder) {
  const { modules, ...files } = await bundleConsole()
  const unfinished = join(folder, `${CONSOLE.file}.${process.pid}`)
  writeFileSync(unfinished, `export const files = async () => (${JSON.stringify(files)})\n`)
  renameSync(unfinished, join(folder, CONSOLE.file))
  return modules
}
