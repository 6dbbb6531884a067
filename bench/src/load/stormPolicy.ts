import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { EVENTS_PER_BATCH } from "./Load.ts"

const checkId = (index: number): string => `check-${String(index).padStart(3, "0")}`

const SILENCES = 20

/** The bodies of silences, each of which covers one of the checks. */
export const silenceBodies = Array.from({ length: SILENCES }, (_, index) =>
  JSON.stringify({
    matchers: [{ field: "check_id", op: "=", value: checkId(index) }],
    for: "2h",
    comment: "the storm",
  }),
)

/** A route for each check. */
const routes = {
  routes: Array.from({ length: EVENTS_PER_BATCH }, (_, index) => ({
    match: [`check_id = ${checkId(index)}`],
    to: ["webhook"],
  })),
}

/** Every incident waits longer than the case takes, and is evaluated every five minutes, since labels may change. */
const everythingWaits = {
  routes: [
    { match: ["label:team = db"], to: ["webhook"] },
    { after: "7d", to: ["webhook"] },
  ],
}

const POLICIES = { routes, everythingWaits }

/** Writes a policy, and returns the setting that names it. */
export const policySetting = (folder: string, name: keyof typeof POLICIES) => {
  const file = join(folder, `${name}.yaml`)
  writeFileSync(file, JSON.stringify(POLICIES[name]))
  return { SERVICE_POLICY_FILE: file }
}
