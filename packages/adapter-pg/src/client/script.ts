const escaped = (text: string): string => text.replaceAll("'", "''")

/**
 * One statement that runs a script. The extended protocol takes one command at a time, so
 * PostgreSQL runs the script itself: in order, all or nothing.
 */
export const scriptOf = (text: string): string =>
  `DO $tocsin_script$ BEGIN EXECUTE $tocsin_text$${text}$tocsin_text$; END $tocsin_script$`

type Settings = Readonly<Record<string, string>>
type Until = "session ends" | "transaction ends"

/** The terms of a SELECT that changes server settings for the rest of the session or the transaction. */
export const settingsTerms = (settings: Settings, until: Until): ReadonlyArray<string> =>
  Object.entries(settings).map(
    ([name, value]) => `set_config('${escaped(name)}', '${escaped(value)}', ${until === "transaction ends"})`,
  )

/** One statement that changes server settings. */
export const settingStatement = (settings: Settings, until: Until): string =>
  `SELECT ${settingsTerms(settings, until).join(", ")}`
