/** The script is at BASE/console/app.js, whatever prefix a proxy strips. */
export const base = new URL("../", import.meta.url).href
