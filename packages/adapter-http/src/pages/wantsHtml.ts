/** The weight of a media range of Accept, from 0 to 1 (RFC 9110, 12.4.2). */
const weightOf = (parameters: ReadonlyArray<string>): number => {
  const given = parameters.map((parameter) => /^\s*q=([\d.]{1,5})\s*$/i.exec(parameter)?.[1]).find(Boolean)
  return given === undefined ? 1 : Number(given)
}

/** Whether a client accepts HTML by name, as browsers do. Programs that take anything get JSON. */
export const wantsHtml = (accept = ""): boolean => {
  const ranges = accept
    .toLowerCase()
    .split(",")
    .map((range) => range.split(";"))
  const weights = (name: string) =>
    ranges.filter(([type = ""]) => type.trim() === name).map(([, ...parameters]) => weightOf(parameters))
  const html = Math.max(0, ...weights("text/html"), ...weights("application/xhtml+xml"))
  return html > 0 && html >= Math.max(0, ...weights("application/json"))
}
