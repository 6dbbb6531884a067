import { NODE_RANGE } from "@tocsin/contract/formats/nodeVersions"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { COMMENTS, takenModules } from "../takenModules.mjs"
import { licencesOf } from "./licences.ts"
import { readManifest, addressesOf } from "./PackageManifest.ts"
import { type PackedFile, packTarball } from "./packTarball.ts"

export const PROGRAM = "tocsin-agent"

interface AgentPackage {
  /** Their paths are from the folder of the package. */
  readonly files: ReadonlyArray<PackedFile>
  /** The paths of the bundled modules. */
  readonly modules: ReadonlyArray<string>
}

/** The agent as one program. */
const bundleAgent = async (root: string) => {
  const program = await rolldown({
    input: join(root, "packages/agent/src/main.ts"),
    // The paths of modules stand in the bundle.
    cwd: root,
    platform: "node",
    onwarn: () => {},
    plugins: [takenModules],
  })
  const { output } = await program.generate({ format: "esm", codeSplitting: false, comments: COMMENTS })
  return { code: output[0].code, modules: Object.keys(output[0].modules) }
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
    ...addressesOf(root, "agent"),
    type,
    engines: { node: NODE_RANGE },
    bin: { [PROGRAM]: `${PROGRAM}.mjs` },
    files: [`${PROGRAM}.mjs`, `${PROGRAM}.service`, "LICENSES.txt", "host"],
    // All of it is in the bundle.
    dependencies: {},
  }
}

/** The guide of the agent as it lies on a host: names the pages that it links to. */
export const hostGuide = (root: string): string =>
  readFileSync(join(root, "docs/agent.md"), "utf8").replaceAll(
    /\[([^\]]*)\]\((?!#)([^)]*)\)/g,
    "$1 (docs/$2)",
  )

/** The package of the agent for npm. `host` has what install.sh puts beside the program. */
export const agentPackage = async (root: string): Promise<AgentPackage> => {
  const { code, modules } = await bundleAgent(root)
  const read = (...path: ReadonlyArray<string>) => readFileSync(join(root, ...path), "utf8")
  const files: ReadonlyArray<PackedFile> = [
    { path: "package.json", content: `${JSON.stringify(agentManifest(root), undefined, 2)}\n` },
    { path: "LICENSE", content: read("LICENSE") },
    { path: "LICENSES.txt", content: licencesOf(root, modules) },
    { path: "README.md", content: read("packages/agent/README.md") },
    { path: `${PROGRAM}.mjs`, content: code, isExecutable: true },
    { path: `${PROGRAM}.service`, content: read("deploy/agent", `${PROGRAM}.service`) },
    { path: "host/README.md", content: hostGuide(root) },
    { path: "host/config.yaml", content: read("deploy/agent/config.yaml") },
    { path: "host/postinst", content: read("deploy/agent/debian/postinst"), isExecutable: true },
    { path: `host/${PROGRAM}`, content: read("deploy/agent", PROGRAM), isExecutable: true },
  ]
  return { files, modules }
}

/** The tarball of the package, as npm takes it. */
export const agentTarball = ({ files }: AgentPackage): Buffer =>
  packTarball(files.map((file) => ({ ...file, path: `package/${file.path}` })))

/** The files from which a server makes all that it hands out. */
export const agentFiles = async (root: string) => {
  const made = await agentPackage(root)
  return {
    version: readManifest(root, "agent").version,
    installer: readFileSync(join(root, "packages/agent/install.sh"), "utf8"),
    tarball: agentTarball(made).toString("base64"),
    modules: made.modules,
  }
}
