import { readFileSync } from "node:fs"
import process from "node:process"
import { Effect } from "effect"

/** Waits as long as the program that writes takes, such as `tocsin policy get`. */
export const standardInput: Effect.Effect<string, unknown> = Effect.try({
  try: () => readFileSync(process.stdin.fd, "utf8"),
  catch: (cause) => cause,
})
