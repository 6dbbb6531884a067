// `npm run build [FOLDER]`: the packages to publish, each as a folder and a tarball in dist/ or FOLDER, with a bill
// of materials and checksums.
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { buildAgent } from "./buildAgent.ts"
import { billOfMaterials } from "./billOfMaterials.ts"
import { bundleServer, packagesOf } from "./bundleServer.ts"
import { publishedPackages } from "./PackageManifest.ts"
import { placeModules } from "./placeModules.ts"
import { publishedManifest } from "./publishedManifest.ts"
import { packPackages, writeChecksums } from "./releaseFiles.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const target = resolve(process.argv[2] ?? join(root, "dist"))

/** The package that contains the server as a program. */
const PROGRAM = "tocsin"

const packages = publishedPackages(root)

/** Compiles all packages together; `false` after the compiler reported errors. */
const compile = (emitted: string): boolean => {
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const project = join(root, "tsconfig.build.json")
  const args = [tsc, "--pretty", "false", "--singleThreaded", "-p", project, "--outDir", emitted]
  return spawnSync(process.execPath, args, { stdio: "inherit" }).status === 0
}

/** The published package has the console's finished files beside the program, and no bundler. */
const useFinishedConsole = (module: string): void => {
  const text = readFileSync(module, "utf8")
  writeFileSync(module, text.replace('"@tocsin/console/files"', '"../bin/console.mjs"'))
}

/** Places the packages and resolves with the modules in the server's bundle. */
const assemble = async (emitted: string, unfinished: string): Promise<ReadonlyArray<string>> => {
  let bundled: ReadonlyArray<string> = []
  for (const { folder, manifest } of packages) {
    const made = join(unfinished, folder)
    const source = join(root, "packages", folder)
    placeModules(join(emitted, folder, "src"), join(source, "src"), made)
    const hasProgram = manifest.name === PROGRAM
    if (hasProgram) {
      bundled = await bundleServer(root, join(made, "bin"))
      useFinishedConsole(join(made, "lib/console.js"))
    }
    cpSync(join(source, "README.md"), join(made, "README.md"))
    cpSync(join(root, "LICENSE"), join(made, "LICENSE"))
    const published = publishedManifest(manifest, { hasProgram })
    writeFileSync(join(made, "package.json"), `${JSON.stringify(published, undefined, 2)}\n`)
  }
  return bundled
}

const writeBill = (folder: string, inServer: ReadonlyArray<string>, inAgent: ReadonlyArray<string>): void => {
  const libraries = packages.map((found) => ({ folder: found.folder, bundled: [], hasDependencies: true }))
  const artefacts = libraries.map((library) =>
    library.folder === PROGRAM ? { ...library, bundled: packagesOf(inServer) } : library,
  )
  const agent = { folder: "agent", bundled: packagesOf(inAgent), hasDependencies: false }
  const viewer = readFileSync(join(folder, PROGRAM, "bin/viewer.mjs"), "utf8")
  writeFileSync(join(folder, "sbom.cdx.json"), billOfMaterials(root, PROGRAM, [...artefacts, agent], viewer))
}

const emitted = `${target}.emitted`
const unfinished = `${target}.unfinished`
try {
  for (const folder of [emitted, unfinished]) rmSync(folder, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  if (compile(emitted)) {
    const inServer = await assemble(emitted, unfinished)
    const agent = await buildAgent(root, unfinished)
    writeBill(unfinished, inServer, agent.modules)
    await packPackages(
      unfinished,
      [...packages.map(({ folder }) => folder), "agent"].map((folder) => join(unfinished, folder)),
    )
    writeChecksums(unfinished)
    rmSync(target, { recursive: true, force: true })
    renameSync(unfinished, target)
    for (const { folder, manifest } of packages) {
      process.stdout.write(`${manifest.name} ${manifest.version}: ${join(target, folder)}\n`)
    }
    process.stdout.write(`${agent.made.replace(unfinished, target)}\n`)
  } else {
    process.stderr.write("Nothing was built: mend what the compiler says above, then build again.\n")
    process.exitCode = 1
  }
} finally {
  for (const folder of [emitted, unfinished]) rmSync(folder, { recursive: true, force: true })
}
