import { cutHeadline } from "@tocsin/contract/formats/cutHeadline"
import { headlineOf } from "@tocsin/contract/formats/headline"
import type { CheckStatus } from "@tocsin/contract/formats/Status"

/** The line of an output that says most, without the status that stands beside it. */
export const saidText = (output: string | undefined, status: CheckStatus | null): string | undefined => {
  const line = headlineOf(output)
  return line === undefined || status === null ? line : cutHeadline(line, status)
}
