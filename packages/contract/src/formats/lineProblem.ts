/** The characters that a line of text never has; completes the name of its place. */
export const lineProblem = (text: string): string | undefined => {
  // oxlint-disable-next-line eslint/no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u001f]/.test(text)) return "must not contain control characters"
  return /\p{Cs}/u.test(text) ? "must not contain half of a character (a lone surrogate)" : undefined
}

/** The same of a text of any lines: the system ends every argument at NUL. */
export const textProblem = (text: string): string | undefined =>
  text.includes("\0") ? "must not contain NUL" : undefined
