// How far npm is, for bootstrap.mjs.
import { existsSync, lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"

const MEGABYTE = 1_000_000

/**
 * @param {string} folder
 * @returns {number}
 */
function bytesIn(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return sum + bytesIn(path)
      return entry.isFile() ? sum + lstatSync(path).size : sum
    }, 0)
  } catch {
    // npm moves folders meanwhile.
    return 0
  }
}

/**
 * Shows that npm works, and how far it is: on a terminal in one line that changes, elsewhere in a line now and then.
 * npm asks the registry first, and then unpacks as it fetches.
 *
 * @param {string} root
 * @param {readonly string[]} paths of the packages, from `root`
 */
export function showProgress(root, paths) {
  const { isTTY } = process.stderr
  const begun = Date.now()
  let answers = 0
  const show = () => {
    const seconds = Math.round((Date.now() - begun) / 1_000)
    const there = paths.filter((path) => existsSync(join(root, path, "package.json"))).length
    const megabytes = Math.round(bytesIn(join(root, "node_modules")) / MEGABYTE)
    const text = `npm: ${seconds} s, ${answers} files fetched, ${there} of ${paths.length} packages unpacked, ${megabytes} MB on disk`
    process.stderr.write(isTTY ? `\r\x1b[K${text.slice(0, (process.stderr.columns || 80) - 1)}` : `${text}\n`)
  }
  const timer = setInterval(show, isTTY ? 1_000 : 5_000)
  return {
    watch: (/** @type {unknown} */ chunk) => {
      answers += String(chunk).match(/http fetch GET 200 /g)?.length ?? 0
    },
    end: () => {
      clearInterval(timer)
      if (isTTY) process.stderr.write("\r\x1b[K")
      else show()
    },
  }
}
