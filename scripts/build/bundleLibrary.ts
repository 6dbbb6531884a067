import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type InputOptions, rolldown } from "rolldown"
import { COMMENTS, DENSE } from "../takenModules.mjs"
import { licencesOf } from "./licences.ts"

/** The entries of the library that contain Effect, so that a program needs none. */
export const PLAIN_ENTRIES = ["index", "client", "console", "testing"]

/** Those that share Effect, and the runner of their tests, with the program. */
export const SHARING_ENTRIES = ["effect", "testing/agent", "testing/storage"]

const PEERS = [/^effect(\/|$)/, /^(@effect\/)?vitest(\/|$)/, "fast-check"]

/** Classes of errors, which are the same for every entry: a program may compare them by `instanceof`. */
const ERRORS = {
  TocsinError: "packages/tocsin/src/TocsinError.ts",
  TocsinClientError: "packages/client/src/TocsinClientError.ts",
}

/** Files beside the server that the library loads on demand, too. */
const BESIDE = [
  { imported: /^@tocsin\/console\/files$/, file: "../bin/console.mjs" },
  { imported: /\bhttpApiSwagger\.(js|ts)$/, file: "../bin/viewer.mjs" },
]

type Plugin = Extract<InputOptions["plugins"], ReadonlyArray<unknown>>[number]

const besideServer: Plugin = {
  name: "beside-server",
  resolveId: (name) => {
    const found = BESIDE.find(({ imported }) => imported.test(name))
    return found === undefined ? null : { id: found.file, external: true }
  },
}

/** Packages of others that entries of both kinds contain: one file each, with what is used of it. */
const OF_OTHERS = {
  nodemailer: ["createTransport"],
  yaml: [
    "isAlias",
    "isMap",
    "isNode",
    "isPair",
    "isScalar",
    "isSeq",
    "Lexer",
    "LineCounter",
    "parseDocument",
    "stringify",
    "visit",
  ],
}

const ofOthers: Plugin = {
  name: "of-others",
  resolveId: (name, importer) => {
    if (!Object.hasOwn(OF_OTHERS, name)) return null
    return importer === undefined
      ? `\0${name}`
      : importer.startsWith("\0")
        ? null
        : { id: `./${name}.js`, external: true }
  },
  load: (id) => {
    const [name, used] = Object.entries(OF_OTHERS).find(([other]) => id === `\0${other}`) ?? []
    return used === undefined ? null : `export { ${used.join(", ")} } from "${name}"`
  },
}

/** Imports the errors from their files. */
const sharedErrors: Plugin = {
  name: "shared-errors",
  resolveId: (name, importer) => {
    const found = Object.keys(ERRORS).find(
      (error) => name.endsWith(`/${error}.ts`) || name.endsWith(`/${error}`),
    )
    return found === undefined || importer === undefined ? null : { id: `./${found}.js`, external: true }
  },
}

const sourceOf = (root: string, entry: string): string => join(root, `packages/tocsin/src/${entry}.ts`)
/** The file of an entry: all lie in one folder, so that paths between them are short. */
export const fileOf = (entry: string): string => entry.replace("/", "-")

const entriesOf = (root: string, entries: ReadonlyArray<string>) =>
  Object.fromEntries(entries.map((entry) => [fileOf(entry), sourceOf(root, entry)]))

/** Optional packages of others are none here: they throw, as if they were not installed. */
const TAKE = `var __require = (name) => {
	const found = globalThis.process.getBuiltinModule(name);
	if (found === undefined) throw new Error(\`\${name} is not part of Node.js\`);
	return found;
};`

/**
 * Modules of Node.js are asked of the process, not of `createRequire(import.meta.url)`: webpack refuses that, and
 * CommonJS, as of esbuild, has no `import.meta.url` (seen with webpack 5.113 and esbuild 0.28).
 */
const takingBuiltins = (code: string): string => {
  const taken = code
    .replaceAll(/^import \{ createRequire \} from "node:module";\n/gm, "")
    .replaceAll(/^var __require = .*createRequire\(import\.meta\.url\)\)\(\);$/gm, TAKE)
    .replaceAll(
      /^(const \S+ = )\/\*#__PURE__\*\/ createRequire\([^\n]*import\.meta\.url\);$/gm,
      "$1(name) => globalThis.process.getBuiltinModule(name);",
    )
  if (taken.includes("createRequire"))
    throw new Error("the library asks for modules by createRequire in a new way")
  return taken
}

const takenBuiltins: Plugin = {
  name: "taken-builtins",
  renderChunk: (code) => (code.includes("createRequire") ? takingBuiltins(code) : null),
}

/**
 * Writes the library to `folder`, in modules that entries share, as dense as the server: functions and classes keep
 * their names. Resolves with the paths of the bundled modules.
 */
export const bundleLibrary = async (root: string, folder: string): Promise<ReadonlyArray<string>> => {
  const errors = Object.fromEntries(Object.entries(ERRORS).map(([name, path]) => [name, join(root, path)]))
  const inputs: ReadonlyArray<InputOptions> = [
    { input: errors },
    { input: Object.fromEntries(Object.keys(OF_OTHERS).map((name) => [name, name])) },
    // For itself, because modules of others have `require`, which browsers have not.
    { input: entriesOf(root, ["client"]), platform: "browser" },
    {
      input: entriesOf(
        root,
        PLAIN_ENTRIES.filter((entry) => entry !== "client"),
      ),
    },
    { input: entriesOf(root, SHARING_ENTRIES), external: PEERS },
  ]
  const modules = new Set<string>()
  for (const input of inputs) {
    const plugins = [sharedErrors, besideServer, ofOthers, takenBuiltins]
    const bundle = await rolldown({ platform: "node", ...input, plugins, onwarn: () => {} })
    const { output } = await bundle.write({
      dir: folder,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "[name]-[hash].js",
      comments: COMMENTS,
      minify: DENSE,
    })
    await bundle.close()
    for (const chunk of output)
      if (chunk.type === "chunk") for (const module of Object.keys(chunk.modules)) modules.add(module)
  }
  writeFileSync(join(folder, "LICENSES.txt"), licencesOf(root, Array.from(modules)))
  return Array.from(modules)
}
