import { execFileSync } from "node:child_process"
import { resolve } from "node:path"
import process from "node:process"
import { pathToFileURL } from "node:url"

/** Runs a function of the build in a process that has its Node.js. */
export const build = (module: string, name: string, ...args: ReadonlyArray<unknown>): void =>
  buildIn(process.cwd(), module, name, ...args)

/** The same in another folder. */
export const buildIn = (cwd: string, module: string, name: string, ...args: ReadonlyArray<unknown>): void => {
  const url = pathToFileURL(resolve("scripts/build", module)).href
  const program = `import { ${name} } from ${JSON.stringify(url)}; await ${name}(...${JSON.stringify(args)})`
  execFileSync(process.execPath, ["--input-type=module", "--eval", program], { cwd })
}
