import { relative } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * How the paths of those begin that take tens of seconds, the longest first; all others take a few
 * at most.
 */
const LONGEST = [
  "test/docs/codeBlocks.test.ts",
  "test/packages/packages.test.ts",
  "test/storage/pg.test.ts",
  "test/http/memory.test.ts",
  "test/firings/",
  "test/deploy/",
  "test/failover/",
  "test/processes/",
  "test/http/",
  "test/examples/",
  "test/console/",
  "test/passes/passes.test.ts",
  "packages/adapter-pg/test/cache/cachedDecisions.test.ts",
  "test/storage/",
  "test/cli/",
  "packages/agent/test/main.test.ts",
  "test/agent/",
  "test/delivery/",
  "test/depth/",
  "test/openapi/",
  "test/security/expressions.test.ts",
  "test/senders/",
  "test/system/",
  "test/faults/",
  "test/fuzz/",
  "test/worlds/",
  "packages/agent/test/agentSuite.test.ts",
  "test/library/",
]

const rankOf = ({ moduleId, project }: TestSpecification): number => {
  const path = relative(project.config.root, moduleId)
  const rank = LONGEST.findIndex((beginning) => path.startsWith(beginning))
  return rank === -1 ? LONGEST.length : rank
}

/**
 * Starts the files that take longest first, on a fresh clone too, so that none of them runs alone
 * in the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}
