import { PutSettingRequest, type Setting } from "@tocsin/contract/settings/Settings"
import { SharedSettings } from "@tocsin/core/features/settings/SharedSettings"
import { Effect } from "effect"
import { actOn, group } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { type Column, tableText } from "../../output/texts.ts"
import { Output } from "../../output/Output.ts"

const COLUMNS: ReadonlyArray<Column<Setting>> = [
  { title: "SETTING", cell: ({ name }) => name },
  { title: "VALUE", cell: ({ value }) => (value === null ? "" : String(value)) },
  { title: "FROM", cell: ({ source }) => source },
]

const name = flags.argument("NAME", "public_url or watch_loopback")

const list = actOn(SharedSettings.layer)({
  name: "list",
  description: "List the settings that may change while servers run, and where each value comes from",
  parameters: {},
})(function* () {
  const answer = yield* SharedSettings.use(({ listSettings }) => listSettings)
  return { answer, text: tableText(COLUMNS, answer.items, yield* Output) }
})

const set = actOn(SharedSettings.layer)({
  name: "set",
  description: "Change a setting: every server follows it within 5 s",
  examples: [
    "tocsin settings set public_url https://tocsin.example.org",
    "tocsin settings set watch_loopback true",
  ],
  parameters: {
    name,
    value: flags.argument("VALUE", "A URL for public_url, true or false for watch_loopback"),
  },
  reads: Effect.fnUntraced(function* (given) {
    const value = ["true", "false"].includes(given.value) ? given.value === "true" : given.value
    return { name: given.name, ...(yield* flags.readArguments(PutSettingRequest, { value })) }
  }),
})(function* ({ name: of, value }) {
  const answer = yield* SharedSettings.use(({ putSetting }) => putSetting(of, value))
  return { answer, text: `${answer.name}: ${String(answer.value)}; every server follows within 5 s\n` }
})

const remove = actOn(SharedSettings.layer)({
  name: "remove",
  description: "Remove a stored setting, so that its default holds again",
  parameters: { name },
})(function* ({ name: of }) {
  const answer = yield* SharedSettings.use(({ removeSetting }) => removeSetting(of))
  return { answer, text: `${of}: ${answer.count === 0 ? "was not stored" : "removed"}\n` }
})

export const settings = group({
  name: "settings",
  description: "List, change or remove the settings that may change while servers run",
  commands: [list, set, remove],
})
