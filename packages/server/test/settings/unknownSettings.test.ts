import { assert, describe, it } from "@effect/vitest"
import { examineSettings } from "@tocsin/server/commands/doctor"
import { checkedSettings, doubtfulSettings } from "@tocsin/server/settings/checkedSettings"
import { Result } from "effect"

const SECRET = "tell-no-one"
const misspelt = "SERVICE_AUHT_TOKEN is not a setting and has no effect; did you mean SERVICE_AUTH_TOKEN?"

describe("variables that only look like settings", () => {
  it("are reported with the nearest name, and without their values", () => {
    const messages = doubtfulSettings({
      SERVICE_WEBHOOK_URI: SECRET,
      SERVICE_AUHT_TOKEN: SECRET,
      SERVICE_WEBHOOK_SECRET_FILES: SECRET,
      SERVICE_UNLIKE_ANY_OTHER_OF_THEM: SECRET,
      SERVICE_AUTH_TOKEN: SECRET,
      SERVICE_AUTH_TOKEN_FILE: SECRET,
      SERVICE_OLD: " ",
      SERVICE_DATABASE_URL: SECRET,
      HOME: SECRET,
      MY_SERVICE_PORT: SECRET,
    }).map(({ message }) => message)
    assert.deepStrictEqual(messages, [
      misspelt,
      "SERVICE_DATABASE_URL is not a setting and has no effect; did you mean DATABASE_URL?",
      "SERVICE_UNLIKE_ANY_OTHER_OF_THEM is not a setting and has no effect; see tocsin serve --help for all settings",
      "SERVICE_WEBHOOK_SECRET_FILES is not a setting and has no effect; did you mean SERVICE_WEBHOOK_SECRET_FILE?",
      "SERVICE_WEBHOOK_URI is not a setting and has no effect; did you mean SERVICE_WEBHOOK_URL?",
    ])
  })

  it("do not prevent a start, and are listed beside a problem that does", () => {
    assert.isTrue(Result.isSuccess(checkedSettings({ SERVICE_AUHT_TOKEN: SECRET })))
    const refused = checkedSettings({ DATABASE_URL: "postgres://db/x", SERVICE_AUHT_TOKEN: SECRET })
    assert.include(Result.isFailure(refused) ? refused.failure.message : "", misspelt)
  })

  it("need attention in the doctor", () => {
    const findings = examineSettings([], doubtfulSettings({ SERVICE_AUHT_TOKEN: SECRET }))
    assert.deepStrictEqual(
      findings.map(({ level, message }) => [level, message]),
      [
        ["ok", "all settings are valid"],
        ["attention", misspelt],
      ],
    )
  })
})
