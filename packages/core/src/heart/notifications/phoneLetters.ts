const BASIC = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
)
const EXTENSION = new Set("\f^{}\\[~]|€")

/** The septets of a text in GSM 03.38; nothing if a character is outside it. */
export const septetsOf = (text: string): number | undefined => {
  let septets = 0
  for (const character of text) {
    if (!BASIC.has(character) && !EXTENSION.has(character)) return undefined
    septets += EXTENSION.has(character) ? 2 : 1
  }
  return septets
}

/** Characters that Unicode does not take apart. */
const PLAIN: Readonly<Record<string, string>> = {
  ł: "l",
  Ł: "L",
  "’": "'",
  "„": '"',
  "“": '"',
  "”": '"',
  "«": '"',
  "»": '"',
  "–": "-",
}

/** A character of the alphabet, or what is left of one without its marks. */
export const withoutMarks = (character: string): string =>
  septetsOf(character) === undefined
    ? (PLAIN[character] ?? character.normalize("NFKD").replaceAll(/\p{M}/gu, ""))
    : character
