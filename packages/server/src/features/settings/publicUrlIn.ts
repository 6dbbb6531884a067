import { publicUrlOf } from "@tocsin/core/kernel/ports/RuleSettings"
import type { Settings } from "../../settings/Settings.ts"

/** The public address in force: that of the environment, or else the stored one (docs/rules.md#stored-settings). */
export const publicUrlIn = ({
  SERVICE_PUBLIC_URL: publicUrl,
  stored,
}: Pick<Settings, "SERVICE_PUBLIC_URL" | "stored">): string | undefined => publicUrlOf({ publicUrl, stored })
