import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bundleProgram } from "../bundleProgram.mjs"
import { licencesOf } from "./bundleServer.ts"
import { readManifest, repositoryOf } from "./PackageManifest.ts"

const PROGRAM = "tocsin-agent"
const EXECUTABLE = 0o755

interface BuiltAgent {
  /** The result, as a line for people. */
  readonly made: string
  /** The paths of the bundled modules. */
  readonly modules: ReadonlyArray<string>
}

/** Builds the agent into `target`: `agent`, a package of one bundled program for npm. */
export const buildAgent = async (root: string, target: string): Promise<BuiltAgent> => {
  const source = join(root, "packages/agent")
  const manifest = readManifest(root, "agent")
  const folder = join(target, "agent")
  mkdirSync(folder, { recursive: true })
  const program = join(folder, `${PROGRAM}.mjs`)
  const modules = await bundleProgram({ source: join(source, "src/main.ts"), target: program })
  chmodSync(program, EXECUTABLE)
  writeFileSync(join(folder, "LICENSES.txt"), licencesOf(root, modules))
  for (const [from, to] of [
    [join(source, "README.md"), "README.md"],
    [join(root, "LICENSE"), "LICENSE"],
    [join(root, "deploy/agent", `${PROGRAM}.service`), `${PROGRAM}.service`],
  ] as const)
    cpSync(from, join(folder, to))
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(agentManifest(root), undefined, 2)}\n`)
  return { made: `${PROGRAM} ${manifest.version}: ${folder}`, modules }
}

/** The package.json of the published agent. */
export const agentManifest = (root: string): object => {
  const { version, description, license, type } = readManifest(root, "agent")
  return {
    // `npx tocsin-agent` finds a package by the name of its program.
    name: PROGRAM,
    version,
    description,
    license,
    ...repositoryOf(root, "agent"),
    type,
    engines: { node: ">=24" },
    bin: { [PROGRAM]: `${PROGRAM}.mjs` },
    files: [`${PROGRAM}.mjs`, `${PROGRAM}.service`, "LICENSES.txt"],
    // All of it is in the bundle.
    dependencies: {},
  }
}
