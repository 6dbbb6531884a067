import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { agentPackage, agentTarball, PROGRAM } from "./agentPackage.ts"
import { readManifest } from "./PackageManifest.ts"

const WORLD_READABLE = 0o644
const EXECUTABLE = 0o755

interface BuiltAgent {
  /** The result, as a line for people. */
  readonly made: string
  /** The paths of the bundled modules. */
  readonly modules: ReadonlyArray<string>
}

/** Builds the agent into `target`: `agent`, a package of one bundled program for npm, and its tarball. */
export const buildAgent = async (root: string, target: string): Promise<BuiltAgent> => {
  const folder = join(target, "agent")
  const made = await agentPackage(root)
  for (const { path, content, isExecutable = false } of made.files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content, { mode: isExecutable ? EXECUTABLE : WORLD_READABLE })
  }
  const { version } = readManifest(root, "agent")
  writeFileSync(join(target, `${PROGRAM}-${version}.tgz`), agentTarball(made))
  return { made: `${PROGRAM} ${version}: ${folder}`, modules: made.modules }
}
