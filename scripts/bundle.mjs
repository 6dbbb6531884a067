// Bundles a program with all that it imports into one file: `node scripts/bundle.mjs SOURCE TARGET`.
import { renameSync } from "node:fs"
import process from "node:process"
import { rolldown } from "rolldown"

const [source, target] = process.argv.slice(2)
if (source === undefined || target === undefined) throw new Error("say what to bundle, and into which file")

// Under a name of its own until it is whole: another start may be reading the target, or writing it too.
const unfinished = `${target}.${process.pid}`
const program = await rolldown({
  input: source,
  platform: "node",
  // Loaded by `pg` only where it is installed.
  external: ["pg-native"],
  onwarn: () => {},
})
await program.write({ file: unfinished, format: "esm", codeSplitting: false })
renameSync(unfinished, target)
