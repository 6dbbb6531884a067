import { spawnSync } from "node:child_process"
import { lacking, programPath } from "../../scripts/programs.mjs"

const PROGRAM = programPath("promtool") ?? "promtool"

/** Why tests that need promtool are skipped; `undefined` where it is present. */
export const withoutPromtool = lacking("promtool")

/** The output of promtool; nothing is wrong where its status is 0. */
export const promtool = (
  args: ReadonlyArray<string>,
  { input, cwd }: { readonly input?: string; readonly cwd?: string } = {},
): { readonly status: number | null; readonly output: string } => {
  const { status, stdout, stderr } = spawnSync(PROGRAM, args, { encoding: "utf8", input, cwd })
  return { status, output: `${stdout}${stderr}` }
}
