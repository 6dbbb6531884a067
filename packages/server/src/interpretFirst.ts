import { flushCompileCache } from "node:module"
import process from "node:process"

/** A command that runs longer has much to do. */
const SHORT_MILLIS = 1_000

/** Without compilers that optimize, and with a young generation that stays at 1 MiB. */
const SHORT = ["--no-turbofan", "--no-maglev", "--semi-space-growth-factor=1"]
const LONG = ["--turbofan", "--maglev", "--semi-space-growth-factor=2"]

/** Node.js of whose flags this is known: V8 complains of others to standard error. */
const KNOWN = /^24\./u

/**
 * Has V8 interpret a command for its first second. Most end before then, and compilers would only take their memory, 15
 * of 90 MiB, and some of their time.
 */
export const interpretFirst = (): void => {
  const { bun, deno, node } = process.versions
  if (!KNOWN.test(node) || bun !== undefined || deno !== undefined) return
  const { setFlagsFromString } = process.getBuiltinModule("node:v8")
  for (const flag of SHORT) setFlagsFromString(flag)
  setTimeout(() => {
    // Code is kept with the flags under which it is written, and other commands start with those from above.
    flushCompileCache()
    for (const flag of LONG) setFlagsFromString(flag)
  }, SHORT_MILLIS).unref()
}
