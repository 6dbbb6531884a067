// Starts the agent from one bundled file.
import { startBundled } from "./startBundled.mjs"

await startBundled({ name: "The agent", package: "agent", sources: ["packages/agent/src/**/*.ts"] })
