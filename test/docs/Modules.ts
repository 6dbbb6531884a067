import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import process from "node:process"
import { promisify } from "node:util"
import type { CodeBlock } from "./CodeBlock.ts"

const run = promisify(execFile)

/**
 * The folder of page modules: in the repository, so that they find its packages, and ignored by
 * git.
 */
export interface Modules {
  readonly folder: string
  /** A module that Node.js loads before each of them. */
  readonly start?: string
}

/** The settings of a reader's own project: strict, as Node.js runs TypeScript. */
const SETTINGS = {
  compilerOptions: {
    target: "ESNext",
    module: "NodeNext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    allowJs: true,
    checkJs: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ["."],
}

/** Whether a block is a module, and not just an excerpt of a file. */
export const isModule = ({ language, marks }: CodeBlock): boolean =>
  (language === "ts" || language === "js") && (marks.has("name") || !marks.has("of"))

/** The file that a block is written to, by the name that it gives itself or by its line. */
export const fileOf = ({ folder }: Modules, { page, line, language, marks }: CodeBlock): string =>
  join(folder, basename(dirname(page)), basename(page, ".md"), marks.get("name") ?? `line${line}.${language}`)

/** Writes the modules of pages, to be checked and run. */
export const writeModules = (blocks: ReadonlyArray<CodeBlock>): Modules => {
  const beside = resolve("docs/dist")
  mkdirSync(beside, { recursive: true })
  const modules: Modules = { folder: mkdtempSync(join(beside, "pages-")) }
  for (const block of blocks.filter(isModule)) {
    const file = fileOf(modules, block)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, block.text)
  }
  writeFileSync(join(modules.folder, "tsconfig.json"), JSON.stringify(SETTINGS))
  return modules
}

/** Removes them. */
export const removeModules = ({ folder }: Modules): void => rmSync(folder, { recursive: true, force: true })

/** The compiler's errors in the modules; empty without any. */
export const typeErrorsIn = async ({ folder }: Modules): Promise<string> => {
  const compiler = resolve("node_modules/typescript/bin/tsc")
  const checked = await run(
    process.execPath,
    [compiler, "--pretty", "false", "--singleThreaded", "-p", folder],
    {
      cwd: folder,
    },
  ).catch(({ stdout, stderr }: { stdout: string; stderr: string }) => ({ stdout, stderr }))
  return checked.stdout + checked.stderr
}
