/** A text without any of `characters` at its end, in linear time: an expression such as `/;+$/` looks again at each of them. */
export const withoutTrailing = (text: string, characters: string): string => {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}
