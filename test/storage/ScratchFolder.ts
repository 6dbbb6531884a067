import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer } from "effect"

/** An empty folder, removed with its layer. */
export class ScratchFolder extends Context.Service<ScratchFolder, { readonly path: string }>()(
  "@tocsin/test/storage/ScratchFolder",
) {
  static readonly layer = Layer.effect(
    ScratchFolder,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "tocsin-storage-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
      ),
      (path) => ScratchFolder.of({ path }),
    ),
  )
}
