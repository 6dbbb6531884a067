// Plain JavaScript, for any Node.js from 20 on.
import process from "node:process"

/**
 * Files that `npm test` leaves to `npm run test:long`, as globs. Each needs much processor time, for browsers, processes,
 * databases or compilers, and proves with them what cheaper tests prove of the same code (CONTRIBUTING.md, "Tests at
 * length").
 *
 * @type {ReadonlyArray<string>}
 */
export const FILES_AT_LENGTH = ["test/docs/codeBlocks.test.ts"]

/** Those that this run leaves out: `npm test` says so, unless its caller names files or titles. */
export const filesLeftOut = () => (process.env["TEST_FILES"] === "sample" ? FILES_AT_LENGTH : [])

/** A line for people about them. */
export const lineOfFilesLeftOut = () =>
  `left out: ${FILES_AT_LENGTH.length} files that take long, npm run test:long runs them (scripts/filesAtLength.mjs)\n`
