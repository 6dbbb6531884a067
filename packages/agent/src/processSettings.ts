import { setFlagsFromString } from "node:v8"

// Imported before everything that these settings apply to.

const WANTED = 24

/** An older Node.js lacks parts that everything imported later uses. */
if (Number.parseInt(process.versions.node, 10) < WANTED) {
  process.stderr.write(
    `tocsin-agent needs Node.js ${WANTED} or newer, and this is ${process.version}: install it, then run this again.\n`,
  )
  process.exit(1)
}

/** Without a listener, Node.js opens its debugger to every user of the host, also in a job of root. */
process.on("SIGUSR1", () => {})

/**
 * The agent waits most of the time, so code that is compiled for speed only takes memory: 20 MiB
 * of it. The flags hold for everything that is loaded later, however Node.js was started.
 */
for (const flag of ["--no-opt", "--no-maglev", "--no-sparkplug", "--optimize-for-size"])
  setFlagsFromString(flag)
