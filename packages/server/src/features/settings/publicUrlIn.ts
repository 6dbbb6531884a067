import { publicUrlOf, type StoredSettings } from "@tocsin/core/kernel/ports/RuleSettings"

interface PublicUrls {
  readonly SERVICE_PUBLIC_URL?: string | undefined
  readonly stored?: StoredSettings | undefined
}

/** The public address in force: that of the environment, or else the stored one (docs/rules.md#stored-settings). */
export const publicUrlIn = ({ SERVICE_PUBLIC_URL: publicUrl, stored }: PublicUrls): string | undefined =>
  publicUrlOf({ publicUrl, stored })
