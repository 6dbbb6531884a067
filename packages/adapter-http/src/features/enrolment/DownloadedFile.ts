import { createHash, hash } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, open, readdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Schema, type Scope } from "effect"

/** A download holds one piece in memory at a time. */
export const PIECE_BYTES = 65_536

/** A file is not the one that was hashed when the server started. */
export class FileChanged extends Schema.TaggedError<FileChanged>()("FileChanged", {}) {}

/** A file as it was when the server started. */
export interface DownloadedFile {
  readonly name: string
  /** In hex. */
  readonly sha256: string
  readonly bytes: number
  /** Opens it to read the piece that begins at an offset. */
  readonly open: Effect.Effect<
    (offset: number) => Effect.Effect<Uint8Array, FileChanged>,
    FileChanged,
    Scope.Scope
  >
}

export const inMemory = (name: string, content: Uint8Array): DownloadedFile => ({
  name,
  sha256: hash("sha256", content),
  bytes: content.length,
  open: Effect.succeed((offset) => Effect.succeed(content.subarray(offset, offset + PIECE_BYTES))),
})

/** A link is not followed, and a pipe that took the place of the file is not waited for. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Another file, and one whose content or rights have changed, has another identity. */
const identityOf = async (handle: FileHandle): Promise<string> => {
  const stats = await handle.stat({ bigint: true })
  const { ctimeNs, dev, ino, mtimeNs, size } = stats
  return stats.isFile() ? [dev, ino, size, mtimeNs, ctimeNs].join() : ""
}

/** Fewer reads than by pieces: an executable has a hundred MiB, and the start waits. */
const HASHED_BYTES = 1_048_576

const hashOf = async (handle: FileHandle) => {
  const digest = createHash("sha256")
  const buffer = Buffer.allocUnsafe(HASHED_BYTES)
  let bytes = 0
  while (true) {
    const { bytesRead } = await handle.read(buffer, 0, HASHED_BYTES, bytes)
    if (bytesRead === 0) return { sha256: digest.digest("hex"), bytes }
    digest.update(buffer.subarray(0, bytesRead))
    bytes += bytesRead
  }
}

const onDisk = Effect.fnUntraced(function* (folder: string, name: string) {
  const attempt = <A>(act: () => Promise<A>) =>
    Effect.tryPromise({ try: act, catch: () => new FileChanged() })
  const opened = Effect.acquireRelease(
    attempt(() => open(join(folder, name), FLAGS)),
    (handle) => Effect.promise(() => handle.close()),
  )
  const handle = yield* opened
  const identity = yield* attempt(() => identityOf(handle))
  if (identity === "") return yield* new FileChanged()
  const { bytes, sha256 } = yield* attempt(() => hashOf(handle))
  const verify = (of: FileHandle) =>
    Effect.filterOrFail(
      attempt(() => identityOf(of)),
      (found) => found === identity,
      () => new FileChanged(),
    )
  yield* verify(handle)
  return {
    name,
    sha256,
    bytes,
    open: Effect.gen(function* () {
      const again = yield* opened
      yield* verify(again)
      return Effect.fnUntraced(function* (offset: number) {
        const piece = Buffer.allocUnsafe(PIECE_BYTES)
        const { bytesRead } = yield* attempt(() => again.read(piece, 0, PIECE_BYTES, offset))
        // Its client sees a whole file only if it stayed the same meanwhile.
        if (offset + bytesRead >= bytes || bytesRead === 0) yield* verify(again)
        return piece.subarray(0, bytesRead)
      })
    }),
  } satisfies DownloadedFile
})

const NAME = /^tocsin-agent[A-Za-z0-9._-]{0,100}$/

/** Executables and packages of several versions. A start hashes all of them. */
const MOST_FILES = 64

/** Hashes the plain files directly in a folder that may be handed out, by name. Warns of the others. */
export const readFolder = Effect.fnUntraced(function* (folder: string) {
  const entries = yield* Effect.tryPromise(() => readdir(folder, { withFileTypes: true }))
  const named = entries.filter(({ name }) => NAME.test(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const plain = named.filter((entry) => entry.isFile()).slice(0, MOST_FILES)
  const files = yield* Effect.forEach(plain, ({ name }) =>
    Effect.scoped(onDisk(folder, name)).pipe(Effect.orElseSucceed(() => undefined)),
  )
  const found = files.filter((file) => file !== undefined)
  const isFound = new Set(found.map(({ name }) => name))
  const left = named.map(({ name }) => name).filter((name) => !isFound.has(name))
  if (left.length > 0)
    yield* Effect.logWarning(
      `${left.join(", ")} in SERVICE_AGENT_DIR are not handed out: make each a plain file that Tocsin's user can read, at most ${MOST_FILES} in all, and restart the server`,
    )
  return found
})
