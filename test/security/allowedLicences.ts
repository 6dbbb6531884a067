/**
 * Licences, by their SPDX names, that a package may have to be part of a release. Each allows use,
 * change and sale, and asks only that its text goes with copies, as `LICENSES.txt` does.
 */
export const allowedLicences: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "MIT-0",
])
