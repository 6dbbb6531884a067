// The tests that a run skipped, and why: each says so at the end of its name, or of a suite around it.

/** @typedef {{ readonly file: string, readonly names: ReadonlyArray<string> }} SkippedTest */

/** @param {string} name */
const reasonIn = (name) => / \(skipped: (.+)\)$/.exec(name)?.[1]

/**
 * The tests whose names say why they were skipped, by reason, and those whose names do not.
 *
 * @param {ReadonlyArray<SkippedTest>} tests each with the names of its suites and its own, the outermost first
 */
export function whySkipped(tests) {
  /** @type {Map<string, Array<SkippedTest>>} */
  const reasons = new Map()
  /** @type {Array<SkippedTest>} */
  const unexplained = []
  for (const test of tests) {
    const reason = test.names.toReversed().flatMap((name) => reasonIn(name) ?? [])[0]
    if (reason === undefined) unexplained.push(test)
    else reasons.set(reason, [...(reasons.get(reason) ?? []), test])
  }
  return { reasons, unexplained }
}

/**
 * Lines for people: how many were skipped for each reason, and in which folders.
 *
 * @param {ReadonlyMap<string, ReadonlyArray<SkippedTest>>} reasons
 */
export function skippedLines(reasons) {
  return Array.from(reasons)
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([reason, tests]) => {
      const folders = new Set(tests.map(({ file }) => file.split("/").slice(0, -1).join("/")))
      return `skipped: ${tests.length}, ${reason} (${Array.from(folders).toSorted().join(", ")})`
    })
}
