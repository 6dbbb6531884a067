import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bundleProgram } from "../bundleProgram.mjs"
import { licencesOf } from "./licences.ts"

/**
 * Writes the server with its command line to `folder`: all that a machine with Node.js needs to run
 * it (docs/decisions/README.md, 0008). It begins at `tocsin.mjs`. Resolves with the paths of the bundled modules.
 */
export const bundleServer = async (root: string, folder: string): Promise<ReadonlyArray<string>> => {
  const bin = join(root, "scripts/build/bin")
  cpSync(bin, folder, { recursive: true })
  await bundleProgram({ source: join(bin, "tocsin.mjs"), target: join(folder, "tocsin.mjs") })
  const modules = await bundleProgram({
    source: join(root, "packages/server/src/main.ts"),
    target: join(folder, "server.mjs"),
    isDense: true,
  })
  writeFileSync(join(folder, "LICENSES.txt"), licencesOf(root, modules))
  return modules
}
