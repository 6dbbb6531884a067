import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bundleProgram } from "../bundleProgram.mjs"
import { licencesOf } from "./licences.ts"

/**
 * Writes the server with its command line to `folder`: all that a machine with Node.js needs to run
 * it (docs/decisions/README.md, 0008). It begins at `tocsin.mjs`. Resolves with the paths of the bundled modules.
 */
export const bundleServer = async (root: string, folder: string): Promise<ReadonlyArray<string>> => {
  cpSync(join(root, "scripts/build/bin"), folder, { recursive: true })
  const modules = await bundleProgram({
    source: join(root, "packages/server/src/main.ts"),
    target: join(folder, "server.mjs"),
  })
  writeFileSync(join(folder, "LICENSES.txt"), licencesOf(root, modules))
  return modules
}
