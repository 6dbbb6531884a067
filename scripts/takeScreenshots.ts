// Writes docs/console/*.png, a picture of each page of the console: `node
// scripts/takeScreenshots.ts`. Needs a Chromium, as test/console does.
import process from "node:process"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { Browser } from "../test/console/Console.ts"
import buildBundles from "../test/processes/bundledPrograms.ts"
import { takeScreenshots } from "../test/console/screenshots.ts"

const folder = fileURLToPath(new URL("../docs/console", import.meta.url))
await buildBundles()
await Effect.runPromise(Effect.scoped(Effect.provide(takeScreenshots(folder), Browser.layer)))
// The browser that tests share would keep it running.
process.exit()
