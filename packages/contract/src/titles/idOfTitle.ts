const LONGEST_ID = 64

/** An ID made of a title (docs/rules.md#titles); with a number, where others have it without or a lower one. */
export const idOfTitle = (title: string, otherwise: string, number = 1): string => {
  const written =
    title
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .replaceAll("ß", "ss")
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replace(/^-/, "") || otherwise
  const end = number === 1 ? "" : `-${number}`
  return written.slice(0, LONGEST_ID - end.length).replace(/-$/, "") + end
}
