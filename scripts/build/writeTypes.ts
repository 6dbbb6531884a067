import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { documentCalls } from "./documentCalls.ts"
import { fileOf, PLAIN_ENTRIES, SHARING_ENTRIES } from "./bundleLibrary.ts"
import { PlainTypes } from "./PlainTypes.ts"
import { readDeclarations, withImports, writeDeclarations } from "./stageDeclarations.ts"

/** The table of calls, whose comments the OpenAPI documents have. */
const CALLS = "client/calls/callTable.d.ts"

const declarationOf = (entry: string): string => `tocsin/${entry}.d.ts`

/**
 * Writes the declarations of the library, of what the compiler emitted, to `folder`: those of entries that contain
 * Effect need none, and the others have those of the modules that they bundle.
 */
export const writeTypes = (root: string, emitted: string, folder: string): void => {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const read = readDeclarations(emitted)
  const all = new Map(read).set(CALLS, documentCalls(read.get(CALLS) ?? ""))
  const staged = realpathSync(mkdtempSync(join(tmpdir(), "tocsin-declarations-")))
  try {
    // The compiler finds Effect there.
    symlinkSync(join(root, "node_modules"), join(staged, "node_modules"), "junction")
    writeDeclarations(staged, all)
    using types = new PlainTypes(staged, PLAIN_ENTRIES.map(declarationOf))
    // The client first: what it needs runs in browsers, and imports nothing of Node.js.
    for (const entry of ["client", ...PLAIN_ENTRIES.filter((other) => other !== "client")]) {
      const written = types.write(declarationOf(entry), entry)
      write(`types/${entry}.d.ts`, written.declarations)
      write(`${entry}.d.ts`, written.entry)
    }
  } finally {
    rmSync(staged, { recursive: true, force: true })
  }
  const sharing = withImports(all, SHARING_ENTRIES.map(declarationOf))
  writeDeclarations(join(folder, "types"), sharing)
  for (const entry of SHARING_ENTRIES)
    write(`${fileOf(entry)}.d.ts`, `export * from "./types/tocsin/${entry}.js"\n`)
}
