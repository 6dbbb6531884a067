// `npm run build [FOLDER]`: the packages to publish, each as a folder and a tarball in dist/ or FOLDER, with a bill
// of materials and checksums.
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"
import { buildAgent } from "./buildAgent.ts"
import { billOfMaterials } from "./billOfMaterials.ts"
import { bundleLibrary } from "./bundleLibrary.ts"
import { bundleServer } from "./bundleServer.ts"
import { copyPages } from "./copyPages.ts"
import { packagesOf } from "./licences.ts"
import { publishedManifest } from "./publishedManifest.ts"
import { packPackages, writeChecksums } from "./releaseFiles.ts"
import { writeTypes } from "./writeTypes.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const target = resolve(process.argv[2] ?? join(root, "dist"))

/** Compiles the declarations of all packages together; `false` after the compiler reported errors. */
const compile = (emitted: string): boolean => {
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const project = join(root, "tsconfig.build.json")
  const args = [tsc, "--pretty", "false", "--singleThreaded", "-p", project, "--outDir", emitted]
  return spawnSync(process.execPath, args, { stdio: "inherit" }).status === 0
}

/** Writes the package `tocsin`: the server as a program and the library. Resolves with the bundled modules. */
const buildTocsin = async (emitted: string, folder: string): Promise<ReadonlyArray<string>> => {
  const inServer = await bundleServer(root, join(folder, "bin"))
  const inLibrary = await bundleLibrary(root, join(folder, "lib"))
  writeTypes(root, emitted, join(folder, "lib"))
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"))
  copyPages(root, folder)
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(publishedManifest(root), undefined, 2)}\n`)
  return [...inServer, ...inLibrary]
}

const emitted = `${target}.emitted`
const unfinished = `${target}.unfinished`
try {
  for (const folder of [emitted, unfinished]) rmSync(folder, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  if (compile(emitted)) {
    const modules = await buildTocsin(emitted, join(unfinished, "tocsin"))
    const agent = await buildAgent(root, unfinished)
    writeFileSync(
      join(unfinished, "sbom.cdx.json"),
      billOfMaterials(
        root,
        [
          { folder: "tocsin", bundled: packagesOf(modules) },
          { folder: "agent", bundled: packagesOf(agent.modules) },
        ],
        (await import(pathToFileURL(join(unfinished, "tocsin/bin/viewer.mjs")).href)).javascript,
      ),
    )
    await packPackages(unfinished, [join(unfinished, "tocsin")])
    writeChecksums(unfinished)
    rmSync(target, { recursive: true, force: true })
    renameSync(unfinished, target)
    for (const line of [`tocsin: ${join(target, "tocsin")}`, agent.made])
      process.stdout.write(`${line.replace(unfinished, target)}\n`)
  } else {
    process.stderr.write("Nothing was built: mend what the compiler says above, then build again.\n")
    process.exitCode = 1
  }
} finally {
  for (const folder of [emitted, unfinished]) rmSync(folder, { recursive: true, force: true })
}
