// `npm run build [FOLDER]`: the packages to publish, each in a folder of dist/ or FOLDER.
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { buildAgent } from "./buildAgent.ts"
import { bundleServer } from "./bundleServer.ts"
import { publishedPackages } from "./PackageManifest.ts"
import { placeModules } from "./placeModules.ts"
import { publishedManifest } from "./publishedManifest.ts"

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

const assemble = async (emitted: string, unfinished: string): Promise<void> => {
  for (const { folder, manifest } of packages) {
    const made = join(unfinished, folder)
    const source = join(root, "packages", folder)
    placeModules(join(emitted, folder, "src"), join(source, "src"), made)
    const hasProgram = manifest.name === PROGRAM
    if (hasProgram) {
      await bundleServer(root, join(made, "bin"))
      useFinishedConsole(join(made, "lib/console.js"))
    }
    cpSync(join(source, "README.md"), join(made, "README.md"))
    cpSync(join(root, "LICENSE"), join(made, "LICENSE"))
    const published = publishedManifest(manifest, { hasProgram })
    writeFileSync(join(made, "package.json"), `${JSON.stringify(published, undefined, 2)}\n`)
  }
}

const emitted = `${target}.emitted`
const unfinished = `${target}.unfinished`
try {
  for (const folder of [emitted, unfinished]) rmSync(folder, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  if (compile(emitted)) {
    await assemble(emitted, unfinished)
    const agent = await buildAgent(root, unfinished)
    rmSync(target, { recursive: true, force: true })
    renameSync(unfinished, target)
    for (const { folder, manifest } of packages) {
      process.stdout.write(`${manifest.name} ${manifest.version}: ${join(target, folder)}\n`)
    }
    for (const line of agent) process.stdout.write(`${line.replace(unfinished, target)}\n`)
  } else {
    process.stderr.write("Nothing was built: mend what the compiler says above, then build again.\n")
    process.exitCode = 1
  }
} finally {
  for (const folder of [emitted, unfinished]) rmSync(folder, { recursive: true, force: true })
}
