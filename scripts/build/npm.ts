import { spawn } from "node:child_process"
import process from "node:process"

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the npm that started this program, or the one on the path. */
export const npm = (cwd: string, args: ReadonlyArray<string>): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const script = process.env["npm_execpath"]
    const child =
      script === undefined
        ? spawn("npm", args, { cwd, shell: process.platform === "win32" })
        : spawn(process.execPath, [script, ...args], { cwd })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk) => (stdout += chunk))
    child.stderr.on("data", (chunk) => (stderr += chunk))
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, stdout, stderr }))
  })
