import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["examples/custom-*/*.test.ts", "test/library/examples.test.ts"],
    // One process loads what the files have in common once.
    isolate: false,
    maxWorkers: 1,
    testTimeout: 120_000,
  },
})
