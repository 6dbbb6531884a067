import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["examples/custom-*/*.test.ts", "test/library/{examples,hosts,logFile}.test.ts"],
    testTimeout: 120_000,
  },
})
