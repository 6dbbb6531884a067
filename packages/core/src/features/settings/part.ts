import { settingsFollower } from "./settingsFollower.ts"
import { SharedSettings } from "./SharedSettings.ts"

/** The part of settings in the core. */
export const settings = { operations: SharedSettings, follows: settingsFollower }
