// Starts the agent from one bundled file.
import { startBundled } from "./startBundled.mjs"

await startBundled("agent")
