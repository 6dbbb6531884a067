import type { PolicyIssue } from "@tocsin/contract/Policies"
import { Schema } from "effect"

/** A line for each issue: where it is, and what is wrong. */
export const issueLines = (file: string, issues: ReadonlyArray<PolicyIssue>): ReadonlyArray<string> =>
  issues.map(({ line, message, path }) => `${file}:${line}: ${path === "" ? "the policy" : path} ${message}`)

/** The policy file is invalid. */
export class BadPolicy extends Schema.TaggedError<BadPolicy>()("BadPolicy", {
  file: Schema.String,
  issues: Schema.Array(Schema.Struct({ path: Schema.String, line: Schema.Int, message: Schema.String })),
}) {
  override get message(): string {
    return [
      "the policy file is not valid (see docs/policy.md):",
      ...this.lines.map((line) => `  ${line}`),
    ].join("\n")
  }

  get lines(): ReadonlyArray<string> {
    return issueLines(this.file, this.issues)
  }
}
