import { defineConfig } from "vitest/config"

export default defineConfig({
  root: new URL("../../..", import.meta.url).pathname,
  test: {
    include: ["test/storage/broken/*.suite.ts"],
    setupFiles: ["test/properties/drawFromSeed.ts"],
    globalSetup: ["test/properties/chooseSeed.ts"],
    isolate: false,
    maxWorkers: 1,
    testTimeout: 120_000,
  },
})
