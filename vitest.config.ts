import process from "node:process"
import { defineConfig } from "vitest/config"

/** A real PostgreSQL is unpacked and started inside a hook: slow on a cold disk, never slower than this. */
const databaseStartMillis = 120_000

/** Far more than any test takes, so that a busy machine fails none; a test that hangs is still named. */
const testMillis = 120_000 * Number(process.env["PROPERTY_RUNS"] ?? 1)

export default defineConfig({
  test: {
    globalSetup: [
      "test/properties/chooseSeed.ts",
      "test/processes/bundledServer.ts",
      "test/postgres/globalSetup.ts",
    ],
    setupFiles: ["test/properties/drawFromSeed.ts"],
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts", "bench/test/**/*.test.ts"],
    passWithNoTests: false,
    testTimeout: testMillis,
    hookTimeout: databaseStartMillis,
    teardownTimeout: 20_000,
    slowTestThreshold: 2_000,
  },
})
