/** The functions of `node:fs` that make a file. Browsers have none, so callers bring them. */
export interface FileSystem {
  readonly openSync: (path: string, flags: string, mode?: number) => number
  readonly writeSync: (file: number, text: string) => unknown
  readonly fsyncSync: (file: number) => void
  readonly closeSync: (file: number) => void
  readonly existsSync: (path: string) => boolean
  readonly renameSync: (from: string, to: string) => void
  readonly rmSync: (path: string, options?: { readonly force: boolean }) => void
  readonly statSync: (
    path: string,
    options: { readonly throwIfNoEntry: false },
  ) => { readonly mtimeMs: number } | undefined
}

const OWNER_ONLY = 0o600
/** A file that is being written longer than this was left by a process that died. */
const ABANDONED_MILLIS = 10_000

/**
 * Makes a file that only its owner can read: whole and on the disk, or not at all. Where processes
 * do so at the same time, one of them writes it.
 */
export const makeFile = (fs: FileSystem, path: string, content: () => string): void => {
  const unfinished = `${path}.unfinished`
  for (;;) {
    const file = openNew(fs, unfinished)
    if (file === undefined) {
      if (fs.existsSync(path)) return
      removeAbandoned(fs, unfinished)
      continue
    }
    try {
      fs.writeSync(file, content())
      fs.fsyncSync(file)
    } catch (error) {
      fs.rmSync(unfinished, { force: true })
      throw error
    } finally {
      fs.closeSync(file)
    }
    if (fs.existsSync(path)) fs.rmSync(unfinished)
    else fs.renameSync(unfinished, path)
    syncFolder(fs, path)
    return
  }
}

/** Opens a file that must not exist, with `O_EXCL`. */
const openNew = (fs: FileSystem, path: string): number | undefined => {
  try {
    return fs.openSync(path, "wx", OWNER_ONLY)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined
    throw error
  }
}

const removeAbandoned = (fs: FileSystem, path: string): void => {
  const found = fs.statSync(path, { throwIfNoEntry: false })
  // Compared with the time of a file, which is the wall clock's.
  const age = new Date().getTime() - (found?.mtimeMs ?? 0)
  if (found !== undefined && Math.abs(age) > ABANDONED_MILLIS) fs.rmSync(path, { force: true })
}

/** Puts the names in a file's folder on the disk. */
export const syncFolder = (fs: FileSystem, path: string): void => {
  const folder = fs.openSync(path.replace(/[^/]*$/, "") || ".", "r")
  try {
    fs.fsyncSync(folder)
  } finally {
    fs.closeSync(folder)
  }
}
