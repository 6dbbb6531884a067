import { Schema } from "effect"
import { closedStruct, named } from "../formats/Fields.ts"

export const settingNames = ["public_url", "watch_loopback"] as const
export type SettingName = (typeof settingNames)[number]

export const SettingValue = Schema.Union([Schema.String, Schema.Boolean])
export type SettingValue = typeof SettingValue.Type

/** A setting that an admin may change while servers run (docs/rules.md#stored-settings). */
export const Setting = Schema.Struct({
  name: Schema.Literals(settingNames),
  value: Schema.NullOr(SettingValue).annotate({
    description: "A text for public_url, null without one; whether for watch_loopback.",
  }),
  source: Schema.Literals(["default", "stored", "environment"]).annotate({
    description: "Where the value comes from. That of the environment wins over a stored one.",
  }),
}).annotate(named("Setting", "A setting that an admin may change while servers run."))
export type Setting = typeof Setting.Type

export const SettingList = Schema.Struct({ items: Schema.Array(Setting) }).annotate(
  named("SettingList", "All settings that an admin may change while servers run."),
)

export const PutSettingRequest = closedStruct({ value: SettingValue }).annotate({
  identifier: "PutSettingRequest",
  description: "The value of a setting: a URL for public_url, true or false for watch_loopback.",
})
export type PutSettingRequest = typeof PutSettingRequest.Type

export const SettingPath = Schema.Struct({
  name: Schema.String.annotateKey({ description: "public_url or watch_loopback." }),
})
