/** Stores a value unless one is stored, and returns the stored one. */
export const establish = `INSERT INTO established AS kept (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = kept.value RETURNING value`
