import { assert, it } from "@effect/vitest"
import { examineReceivers } from "@tocsin/server/commands/doctor/examineNotifiers"
import { Effect } from "effect"
import { vi } from "vitest"
import { BrokenInstall } from "../src/BrokenInstall.ts"
import { readSettings } from "../src/settings/checkedSettings.ts"
import type { Settings } from "../src/settings/Settings.ts"

vi.mock("../../adapter-notify/src/alertrouter/alertRouter.ts", () => {
  throw new Error("its file is gone")
})

it.effect("the doctor names the receiver of the settings whose part of the program is not there", () =>
  Effect.gen(function* () {
    // All settings of this environment are valid.
    const settings = readSettings({
      SERVICE_NOTIFIERS: "alert_router",
      SERVICE_ALERT_ROUTER_URL: "http://127.0.0.1:1/",
    }).values as Settings
    const [finding, ...others] = (yield* examineReceivers(settings, false)).findings
    assert.deepStrictEqual(others, [])
    assert.deepInclude(finding, { check: "receivers", level: "failed" })
    assert.match(
      finding?.message ?? "",
      /^the part of Tocsin for the receiver alert_router cannot be loaded \([^]*\): install Tocsin again$/,
    )
  }),
)

it("names the file that is not there", () => {
  const cause = new Error("Cannot find module '/opt/tocsin/email.js' imported from /opt/tocsin/main.js")
  const { message } = new BrokenInstall({ part: "a part of Tocsin", cause })
  assert.strictEqual(
    message,
    "a part of Tocsin cannot be loaded (/opt/tocsin/email.js): install Tocsin again",
  )
})
