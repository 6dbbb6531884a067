#!/usr/bin/env node
import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net"
import process from "node:process"
import { isMainThread } from "node:worker_threads"
import { keepCompiled } from "./keepCompiled.ts"
import { noteHangups } from "./onSighup.ts"

// Lookups of names get half of libuv's threads, and each name whose server is silent holds one. The
// variable counts only before the first work for a thread.
process.env["UV_THREADPOOL_SIZE"] ??= "16"

// Node.js allows each address of a name 250 ms, in which a slow link connects to none: PostgreSQL's, and those that
// the command line calls. All else connects side by side.
setDefaultAutoSelectFamilyAttemptTimeout(2_500)

// Without a listener, Node.js opens its debugger to every user of the host.
process.on("SIGUSR1", () => {})

const args = process.argv.slice(2)
// Each loads only what it needs: the command line would add some MiB to the server's idle memory.
if (!isMainThread) await (await import("./threads/runThread.ts")).runThread()
else if (args.length === 0 || (args.length === 1 && args[0] === "serve")) {
  noteHangups()
  const { serve } = await import("./serve.ts")
  await serve(import.meta.url)
} else if (args.length === 1 && args[0] === "--version") {
  const { version } = await import("./version.ts")
  process.stdout.write(`${version}\n`)
} else {
  keepCompiled()
  const { runCommandLine } = await import("./commandLine.ts")
  runCommandLine(args, import.meta.url)
}
