import { assert } from "@effect/vitest"
import type { MarkRecord } from "@tocsin/core/model/MarkRecord"
import type { Process } from "./Service.ts"

/** A mark of a server without signatures: it updates two columns, and leaves the others as they are. */
export const olderMark = ({ commits }: Pick<Process, "commits">) =>
  commits.transact(function* (workspace, now) {
    yield { mark: true }
    const mark: MarkRecord = workspace.marks.get("service") ?? assert.fail("no mark")
    workspace.marks.put({ ...mark, marked_at: now })
  })
