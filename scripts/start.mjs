// Starts the server from one bundled file.
import { startBundled } from "./startBundled.mjs"

await startBundled("server")
