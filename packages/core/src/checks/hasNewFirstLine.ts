import type { CheckResultEvent } from "../contract/EventBatchRequest.ts"
import { firstLine } from "../notifications/firstLine.ts"
import type { CheckRecord } from "./CheckRecord.ts"

/** Whether an event says something new of its check to those who only see the first line of an output. */
export const hasNewFirstLine = (check: CheckRecord, event: CheckResultEvent): boolean =>
  event.output !== check.summary && firstLine(event.output) !== firstLine(check.summary)
