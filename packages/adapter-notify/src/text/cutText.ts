const ELLIPSIS = "…"

/** At most `length` UTF-16 units, without half a character. */
const beginning = (text: string, length: number): string =>
  /[\ud800-\udbff]/.test(text.charAt(length - 1)) ? text.slice(0, length - 1) : text.slice(0, length)

/**
 * The longest beginning of `text` that, escaped, has at most `limit` UTF-16 units, with an ellipsis
 * if it is cut. Never cuts within a character or its escape.
 */
export const cutText = (
  text: string,
  options: { readonly limit: number; readonly escape: (text: string) => string },
): string => {
  const { limit, escape } = options
  const whole = escape(text)
  if (whole.length <= limit) return whole
  // An escape may depend on its neighbours, so each candidate is escaped as a whole.
  let fits = 0
  let tooLong = text.length + 1
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (escape(beginning(text, middle)).length + ELLIPSIS.length <= limit) fits = middle
    else tooLong = middle
  }
  return limit < ELLIPSIS.length ? "" : `${escape(beginning(text, fits))}${ELLIPSIS}`
}
