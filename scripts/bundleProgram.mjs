import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { bundleConsole } from "../packages/console/bundle.mjs"
import { agentFiles } from "./build/agentPackage.ts"
import { COMMENTS, DENSE, takenModules } from "./takenModules.mjs"

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
  ["./commandTexts.ts", { file: "commandTexts.mjs", make: commandTexts }],
])

/**
 * Modules of megabytes without imports, which export texts, and the files that they become beside the program. The
 * server loads them on demand.
 */
const BESIDE = new Map([["httpApiSwagger.js", "viewer.mjs"]])

/** Help and completions of all commands. Their modules are in the bundle already. */
async function commandTexts() {
  const { files } = await import("../packages/server/src/commandTexts.ts")
  return { modules: [], ...(await files()) }
}

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

/** Parts have the hash of their content in their names, so that a program that runs keeps its own. */
const PART = /-[\w-]{8}\.part\.mjs$/

/** A rebuild leaves former parts for so long: a server that started from them may load some yet. */
const KEPT_MILLIS = 30 * 24 * 3_600_000

/**
 * Bundles a program and its imports: one file, and parts that it loads on demand. As CommonJS, all is one file; a dense
 * one has short names of variables and no line breaks. Resolves with the paths of all modules.
 *
 * @param {{ source: string, target: string, format?: "esm" | "cjs", isDense?: boolean }} files
 * @returns {Promise<ReadonlyArray<string>>}
 */
export async function bundleProgram({ source, target, format = "esm", isDense = false }) {
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
  const { output } = await program.generate({
    format,
    codeSplitting: format === "esm",
    entryFileNames: basename(target),
    chunkFileNames: "[name]-[hash].part.mjs",
    comments: { ...COMMENTS, annotation: !isDense },
    minify: isDense && DENSE,
  })
  mkdirSync(dirname(target), { recursive: true })
  // First, so that an existing program has them.
  for (const [file, module] of beside) place(await packedModule(module), join(dirname(target), file))
  const chunks = output.filter((written) => written.type === "chunk")
  const parts = chunks.filter(({ isEntry }) => !isEntry)
  placeParts(parts, dirname(target))
  const others = await Promise.all(Array.from(made, (finished) => writeMade(finished, dirname(target))))
  for (const { code, isEntry } of chunks) if (isEntry) place(code, target)
  return [...chunks.flatMap(({ modules }) => Object.keys(modules)), ...beside.values(), ...others.flat()]
}

/**
 * Escapes all characters but those of ASCII: a module is in V8's memory while it is loaded, and one ellipsis in it doubles
 * what all of it takes.
 *
 * @param {string} code
 */
function inAscii(code) {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code))
    throw new Error("a raw text cannot be escaped: write it in ASCII")
  return code.replaceAll(/(\\*)([^\0-\x7f])/g, (_, slashes, unit) => {
    const others = slashes.length % 2 === 0 ? slashes : slashes.slice(1)
    return `${others}\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  })
}

/**
 * Writes the finished files of an import as a module. Resolves with the paths of the modules in them.
 *
 * @param {Made} finished
 * @param {string} folder
 */
async function writeMade({ file, make }, folder) {
  const { modules, ...files } = await make()
  place(`export const files = async () => (${JSON.stringify(files)})\n`, join(folder, file))
  return modules
}

/**
 * @param {ReadonlyArray<{ readonly code: string, readonly fileName: string }>} parts
 * @param {string} folder
 */
function placeParts(parts, folder) {
  const now = Date.now()
  for (const { code, fileName } of parts) {
    const path = join(folder, fileName)
    if (existsSync(path)) utimesSync(path, now / 1_000, now / 1_000)
    else place(code, path)
  }
  for (const path of readdirSync(folder).map((file) => join(folder, file)))
    if (PART.test(path) && statSync(path).mtimeMs < now - KEPT_MILLIS) rmSync(path, { force: true })
}

/**
 * Writes a module under a temporary name until it is complete: another start may read or write it.
 *
 * @param {string} text
 * @param {string} path
 */
function place(text, path) {
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, inAscii(text))
  renameSync(unfinished, path)
}
