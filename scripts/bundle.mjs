// Bundles a program with all that it imports into one file, and what is loaded on demand beside it: `node scripts/bundle.mjs SOURCE TARGET`.
import process from "node:process"
import { bundleProgram } from "./bundleProgram.mjs"

const [source, target] = process.argv.slice(2)
if (source === undefined || target === undefined) throw new Error("say what to bundle, and into which file")
await bundleProgram({ source, target })
