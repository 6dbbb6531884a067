const escaped = (text: string): string => text.replaceAll("'", "''")

/**
 * One statement that runs a text of several. The extended protocol takes one command at a time, so PostgreSQL is asked
 * to run the others. They see what those before them did, and all of them count or none.
 */
export const scriptOf = (text: string): string =>
  `DO $tocsin_script$ BEGIN EXECUTE $tocsin_text$${text}$tocsin_text$; END $tocsin_script$`

/** One statement that sets settings of the server, for the rest of the session or only of the transaction. */
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
