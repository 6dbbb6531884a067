import { defineConfig } from "vitest/config"

/** A real PostgreSQL is unpacked and started inside a hook: slow on a cold disk, never slower than this. */
const databaseStartMillis = 120_000

export default defineConfig({
  test: {
    globalSetup: ["test/processes/bundledServer.ts", "test/postgres/globalSetup.ts"],
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts", "bench/test/**/*.test.ts"],
    passWithNoTests: false,
    testTimeout: 20_000,
    hookTimeout: databaseStartMillis,
    teardownTimeout: 20_000,
    slowTestThreshold: 2_000,
  },
})
