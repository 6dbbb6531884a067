import { execFileSync } from "node:child_process"
import process from "node:process"
import { COMPILE_CACHE, SERVER } from "../processes/program.ts"
import type { Place } from "./tocsin.ts"

/** Runs a command with a text at its standard input. */
export const feed = ({ cwd, environment }: Place, input: string, ...args: ReadonlyArray<string>) =>
  execFileSync(process.execPath, [SERVER, ...args], {
    cwd,
    input,
    env: { ...process.env, ...COMPILE_CACHE, ...environment },
    encoding: "utf8",
  })
