// `npm run package [FOLDER]`: the agent as an executable, for SERVICE_AGENT_DIR and for Debian, in dist/download or FOLDER.
import { renameSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { packageAgent } from "./packageAgent.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const target = resolve(process.argv[2] ?? join(root, "dist/download"))
const unfinished = `${target}.unfinished`
try {
  rmSync(unfinished, { recursive: true, force: true })
  const made = await packageAgent({ root, target: unfinished })
  rmSync(target, { recursive: true, force: true })
  renameSync(unfinished, target)
  for (const line of made) process.stdout.write(`${line.replace(unfinished, target)}\n`)
} finally {
  rmSync(unfinished, { recursive: true, force: true })
}
