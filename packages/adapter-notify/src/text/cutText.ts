const ELLIPSIS = "…"

/**
 * The beginning of `text` that, escaped, has at most `limit` UTF-16 units (no fewer than characters, however a receiver
 * counts), with an ellipsis where something is cut. Never cuts within a character or its escape.
 */
export const cutText = (
  text: string,
  options: { readonly limit: number; readonly escape: (text: string) => string },
): string => {
  const { limit, escape } = options
  const whole = escape(text)
  if (whole.length <= limit) return whole
  let cut = ""
  for (const character of text) {
    const escaped = escape(character)
    if (cut.length + escaped.length + ELLIPSIS.length > limit) break
    cut += escaped
  }
  return limit < ELLIPSIS.length ? "" : `${cut}${ELLIPSIS}`
}
