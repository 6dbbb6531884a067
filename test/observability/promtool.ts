import { execFileSync, spawnSync } from "node:child_process"
import process from "node:process"

const PROGRAM = process.env["PROMTOOL"] ?? "promtool"

const isPresent = (): boolean => {
  try {
    execFileSync(PROGRAM, ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Why tests that need promtool are skipped; `undefined` where it is present. */
export const withoutPromtool = isPresent()
  ? undefined
  : "promtool is not there; Debian's package prometheus has it, or PROMTOOL names it"

/** The output of promtool; nothing is wrong where its status is 0. */
export const promtool = (
  args: ReadonlyArray<string>,
  { input, cwd }: { readonly input?: string; readonly cwd?: string } = {},
): { readonly status: number | null; readonly output: string } => {
  const { status, stdout, stderr } = spawnSync(PROGRAM, args, { encoding: "utf8", input, cwd })
  return { status, output: `${stdout}${stderr}` }
}
