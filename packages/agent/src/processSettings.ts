import { isNodeNewEnough, nodeRefusal } from "@tocsin/contract/formats/nodeVersions"
import { setFlagsFromString } from "node:v8"

// Imported before everything that these settings apply to.

/** An older Node.js lacks parts that everything imported later uses, or ends at some certificates. */
if (!isNodeNewEnough(process.versions)) {
  process.stderr.write(`${nodeRefusal("tocsin-agent", process.versions)}\n`)
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
