import { mkdirSync, statSync } from "node:fs"
import { enableCompileCache } from "node:module"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import process from "node:process"

const OTHERS_WRITE = 0o022

/** Whether only this user writes to a folder: compiled code that another left there would run as this user. */
const isOwn = (folder: string): boolean => {
  if (process.getuid === undefined) return true
  const { mode, uid } = statSync(folder)
  return uid === process.getuid() && (mode & OTHERS_WRITE) === 0
}

/** The folder that this user has for files that may go, and one above it that must be there. */
const cacheFolder = (): { readonly base: string; readonly folder: string } => {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env
  const given = process.platform === "win32" ? LOCALAPPDATA : XDG_CACHE_HOME
  if (given !== undefined && isAbsolute(given)) return { base: given, folder: given }
  const base = homedir()
  return { base, folder: join(base, process.platform === "darwin" ? "Library/Caches" : ".cache") }
}

/**
 * Keeps what Node.js compiles of this program for the next command, which then takes half of the processor time. It
 * does without where the user has no folder for that: every failure is one that only costs time.
 */
export const keepCompiled = (): void => {
  try {
    const { base, folder } = cacheFolder()
    const compiled = join(folder, "tocsin")
    if (!isOwn(base)) return
    mkdirSync(compiled, { recursive: true, mode: 0o700 })
    if (isOwn(compiled)) enableCompileCache(compiled)
  } catch {
    // No home, or one that takes no files.
  }
}
