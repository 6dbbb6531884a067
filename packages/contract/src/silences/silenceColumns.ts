/** The columns of silences as CSV: see `csvText`. */
export const silenceColumns = "id state matchers starts_at ends_at comment created_by created_at"
