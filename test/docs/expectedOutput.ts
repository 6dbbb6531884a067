/** Texts that differ from run to run, and the word that stands for each; nothing else may differ. */
const VARYING: ReadonlyArray<readonly [pattern: RegExp, word: string]> = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "ID"],
  [/\b2\d{3}-\d\d-\d\dT[\d:.]+Z/g, "TIME"],
  [/\b[0-9a-f]{64}\b/g, "SHA256"],
  [/\b[0-9a-f]{16}\b/g, "FINGERPRINT"],
  [/\b\d+(\.\d+)? (B|KiB|MiB|GiB|TiB)\b/g, "SIZE"],
  [/\b\d+(\.\d+)? ms\b/g, "MILLIS"],
  [/\b(\d+[smhd] ago|in \d+[smhd]( \d+[smhd])?)\b/g, "AGO"],
  [/\bat \d+ of \d+\b/g, "at SCHEMA"],
  // Columns are as wide as their content.
  [/ {2,}/g, " "],
  [/ +$/gm, ""],
]

const normalised = (text: string): string =>
  VARYING.reduce((found, [pattern, word]) => found.replaceAll(pattern, word), text).trim()

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** Printed output in the form in which it is compared. */
export const comparable = normalised

/**
 * Whether a page shows the printed output. IDs, times and sizes may differ, and `…` matches
 * anything.
 */
export const isShownBy = (shown: string, printed: string): boolean =>
  new RegExp(`^${normalised(shown).split("…").map(escaped).join("[^]*?")}$`).test(normalised(printed))

/** Whether the printed output contains the lines that a page shows. */
export const isShownIn = (shown: string, printed: string): boolean => isShownBy(`…${shown.trim()}…`, printed)
