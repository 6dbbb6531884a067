import { compilePolicy, type Policy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Result } from "effect"

/** The receivers of every policy, and of the settings. */
export const RECEIVERS = ["chat", "pager"] as const

const policy = (document: object): Policy =>
  compilePolicy(Result.getOrThrow(readPolicy(document, RECEIVERS)), RECEIVERS)

/** `chat` is notified first by each. */
export const POLICIES = [
  policy({}),
  policy({ routes: [{ match: ["check_id glob disk*"], after: "30s", remind: "15m", to: ["chat"] }] }),
  policy({
    routes: [{ match: [], steps: [{ to: ["chat"] }, { after: "3m", to: ["pager"] }] }],
    windows: [
      { name: "w", cron: "*/20 * * * *", tz: "Europe/Berlin", for: "2m", match: ["check_id = disk"] },
    ],
  }),
  policy({ freshness: [{ match: ["check_id = disk"], every: "5m" }] }),
] as const

/** The policy without any route. */
export const NO_POLICY = POLICIES[0]
