import { qrCode } from "./qrCode.ts"

const PIXELS = 200
/** Readers need a light margin of four squares. */
const MARGIN = 4

/** The dark squares of a QR code as a path, a unit each. */
const pathOf = (data: ReadonlyArray<ReadonlyArray<boolean>>): string =>
  data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : []))).join("")

/** A text as a QR code. */
export const Code = ({ text }: { readonly text: string }) => {
  const squares = qrCode(text)
  // No link is so long; it stands beside the code in any case.
  if (squares === undefined) return null
  const size = squares.length + 2 * MARGIN
  return (
    <svg
      role="img"
      aria-label="QR code of the link"
      width={PIXELS}
      height={PIXELS}
      viewBox={`-${MARGIN} -${MARGIN} ${size} ${size}`}
      shape-rendering="crispEdges"
    >
      <rect x={-MARGIN} y={-MARGIN} width={size} height={size} fill="#fff" />
      <path d={pathOf(squares)} fill="#000" />
    </svg>
  )
}
