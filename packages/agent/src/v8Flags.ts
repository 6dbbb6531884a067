import { setFlagsFromString } from "node:v8"

/**
 * The agent waits most of the time, so code that is compiled for speed only takes memory: 20 MiB
 * of it. Imported early, so that the flags hold for everything after it, however Node.js was started.
 */
for (const flag of ["--no-opt", "--no-maglev", "--no-sparkplug", "--optimize-for-size"])
  setFlagsFromString(flag)
