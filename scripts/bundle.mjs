// `node scripts/bundle.mjs SOURCE TARGET` bundles a program and its imports into one file, with
// modules loaded on demand beside it.
import process from "node:process"
import { bundleProgram } from "./bundleProgram.mjs"

const [source, target] = process.argv.slice(2)
if (source === undefined || target === undefined)
  throw new Error("usage: node scripts/bundle.mjs SOURCE TARGET")
const begun = performance.now()
const seconds = () => Math.round((performance.now() - begun) / 1_000)
/** @param {string} what */
const say = (what) => process.stderr.write(`bundling ${source}: ${what} ${seconds()} s\n`)
setInterval(() => say("running for"), 5_000).unref()
await bundleProgram({ source, target })
say("done after")
