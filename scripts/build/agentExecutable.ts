import { chmodSync, copyFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import process from "node:process"
import { bundleProgram } from "../bundleProgram.mjs"
import { assertSameNode, nodeOf, runTool } from "./nodeBuilds.ts"

/** Where Node.js looks for an embedded program. */
const BLOB = "NODE_SEA_BLOB"
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2"
const EXECUTABLE = 0o755

/** The agent as the single executable applications of Node.js embed it. */
export interface EmbeddedAgent {
  /** The path of the program as a version of Node.js reads it, whatever the architecture. */
  readonly blobFor: (version: string) => Promise<string>
  /** The paths of the bundled modules. */
  readonly modules: ReadonlyArray<string>
}

export const embedAgent = async (root: string, scratch: string): Promise<EmbeddedAgent> => {
  assertSameNode()
  const main = join(scratch, "tocsin-agent.cjs")
  const modules = await bundleProgram({
    source: join(root, "packages/agent/src/main.ts"),
    target: main,
    format: "cjs",
  })
  const blobFor = async (version: string): Promise<string> => {
    const blob = `tocsin-agent-${version}.blob`
    const settings = `sea-${version}.json`
    const written = {
      // Its path is in the blob: without a folder, the same source gives the same executable.
      main: basename(main),
      output: blob,
      disableExperimentalSEAWarning: true,
      // A code cache would be of this machine's architecture.
      useCodeCache: false,
      // NODE_OPTIONS is for the jobs that the agent wraps. --disable-sigusr1 would keep the signal from them.
      execArgv: [],
      execArgvExtension: "none",
    }
    writeFileSync(join(scratch, settings), JSON.stringify(written))
    runTool(await nodeOf(version, scratch), ["--experimental-sea-config", settings], { cwd: scratch })
    return join(scratch, blob)
  }
  return { blobFor, modules }
}

/** Writes a copy of `node` that is the agent. */
export const writeExecutable = (
  root: string,
  { node, blob, target }: { readonly node: string; readonly blob: string; readonly target: string },
): void => {
  copyFileSync(node, target)
  chmodSync(target, EXECUTABLE)
  const postject = join(root, "node_modules/postject/dist/cli.js")
  runTool(process.execPath, [postject, target, BLOB, blob, "--sentinel-fuse", FUSE])
}
