import type { RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import type { RetentionOptions } from "@tocsin/core/kernel/engine/commits/Retention"
import type { Setting, ValuesOf } from "./settings/settingTypes.ts"

// The kinds of things that a feature declares in its `part.ts` (CONTRIBUTING.md#a-new-feature).

/** Settings by the one that they follow in `tocsin serve --help`. */
export type PlacedSettings = Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>>

/** All of a union at the same time. */
export type Together<All> = (All extends unknown ? (one: All) => void : never) extends (
  all: infer Both,
) => void
  ? Both
  : never

/** Settings by their names alone. */
export type SettingsIn<Given> = Together<Given[keyof Given]>

/** The values of a feature's own settings. */
export type OwnValues<Given> = ValuesOf<SettingsIn<Given>>

/** The rules and the spans of retention that a feature's own settings state. */
export type Rules = Partial<RuleOptions>
export type Retention = Partial<RetentionOptions>
