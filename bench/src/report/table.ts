/** Lines of columns; the first row is the heading, and columns of numbers are set to the right. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const [heading = []] = rows
  const isNumeric = heading.map((_, column) =>
    rows.slice(1).every((row) => /^$|^–$|^[\d.,]+( |$)/.test(row[column] ?? "")),
  )
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)))
  const line = (row: ReadonlyArray<string>) =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? ""
        return isNumeric[column] === true ? cell.padStart(width) : cell.padEnd(width)
      })
      .join("  ")
      .trimEnd()
  return [
    line(heading),
    widths.map((width) => "-".repeat(width)).join("  "),
    ...rows.slice(1).map(line),
  ].join("\n")
}
