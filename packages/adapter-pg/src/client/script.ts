const escaped = (text: string): string => text.replaceAll("'", "''")

/**
 * One statement that runs a script. The extended protocol takes one command at a time, so
 * PostgreSQL runs the script itself: in order, all or nothing.
 */
export const scriptOf = (text: string): string =>
  `DO $tocsin_script$ BEGIN EXECUTE $tocsin_text$${text}$tocsin_text$; END $tocsin_script$`

/** One statement that changes server settings for the rest of the session or the transaction. */
export const settingStatement = (
  settings: Readonly<Record<string, string>>,
  until: "session ends" | "transaction ends",
): string =>
  `SELECT ${Object.entries(settings)
    .map(
      ([name, value]) =>
        `set_config('${escaped(name)}', '${escaped(value)}', ${until === "transaction ends"})`,
    )
    .join(", ")}`
