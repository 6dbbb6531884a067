import { availableParallelism } from "node:os"
import { configDefaults, defineConfig } from "vitest/config"
import { filesLeftOut } from "./scripts/filesAtLength.mjs"
import { LongestFirst } from "./test/LongestFirst.ts"

/** A real PostgreSQL is unpacked and started inside a hook: slow on a cold disk and beside other work. */
const hookMillis = 600_000

/** Far more than any test takes, so that no busy machine fails one. `Progress` names those that may hang. */
const testMillis = 1_800_000

export default defineConfig({
  test: {
    globalSetup: [
      "test/properties/chooseSeed.ts",
      "test/processes/bundledPrograms.ts",
      "test/postgres/globalSetup.ts",
    ],
    reporters: ["default", "./test/Progress.ts"],
    setupFiles: ["test/properties/drawFromSeed.ts"],
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts", "bench/test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...filesLeftOut()],
    // Two more than cores, as tests also wait; each one more takes seconds to load and to compile the same again.
    maxWorkers: availableParallelism() + 2,
    // A larger young generation is collected less often, and helpers of its collector would take the other workers'
    // cores: a tenth less of processor time. Marking in a thousand steps takes five times as long as in one.
    execArgv: ["--max-semi-space-size=32", "--single-threaded-gc", "--no-incremental-marking"],
    // Files that share a process load what they have in common once. What a test needs for itself, it makes.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    passWithNoTests: false,
    testTimeout: testMillis,
    hookTimeout: hookMillis,
    teardownTimeout: 20_000,
    slowTestThreshold: 2_000,
  },
})
