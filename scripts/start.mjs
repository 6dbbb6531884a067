// Starts the server from one bundled file.
import { startBundled } from "./startBundled.mjs"

await startBundled({ name: "The server", package: "server", sources: ["packages/*/src/**/*.{ts,tsx,css}"] })
