/** How many bytes `text` takes in UTF-8; a lone surrogate counts three, as the U+FFFD that stands for it would. */
export const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit <= 0x7f) continue
    if (unit <= 0x7ff) {
      bytes += 1
    } else if (isPairAt(text, index)) {
      // Two code units, four bytes.
      bytes += 2
      index += 1
    } else {
      bytes += 2
    }
  }
  return bytes
}

const isPairAt = (text: string, index: number): boolean =>
  (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00
