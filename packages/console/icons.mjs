import { deflateSync, crc32 } from "node:zlib"

const [INK, PAPER, NOTHING] = [
  [0xb3, 0x26, 0x1e, 255],
  [255, 255, 255, 255],
  [0, 0, 0, 0],
]

/** The bell of the page's icon, in its 32 units. */
const isBell = (/** @type {number} */ x, /** @type {number} */ y) =>
  (y <= 13 && Math.hypot(x - 16, y - 13) <= 7) ||
  (y >= 13 && y <= 18 && Math.abs(x - 16) <= 7) ||
  (y >= 18 && y <= 22 && Math.abs(x - 16) <= 7 + ((y - 18) * 3) / 4) ||
  (y >= 24 && Math.hypot(x - 16, y - 24) <= 3)

const RADIUS = 7

const isGround = (/** @type {number} */ x, /** @type {number} */ y) => {
  const [dx, dy] = [x, y].map((at) => Math.max(RADIUS - at, at - (32 - RADIUS), 0))
  return Math.hypot(dx ?? 0, dy ?? 0) <= RADIUS
}

/** Parts of a pixel in each direction, so that edges are smooth. */
const PARTS = 4

const chunk = (/** @type {string} */ type, /** @type {Buffer} */ content) => {
  const body = Buffer.concat([Buffer.from(type), content])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(content.length)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

/**
 * The icon as PNG, as base64. A maskable one fills its square, with the bell in the middle that every mask leaves.
 *
 * @param {number} size
 * @param {boolean} isMaskable
 */
const icon = (size, isMaskable) => {
  const colourAt = (/** @type {number} */ x, /** @type {number} */ y) => {
    const [u, v] = isMaskable ? [16 + (x - 16) * 1.5, 16 + (y - 16) * 1.5] : [x, y]
    if (isBell(u, v)) return PAPER
    return isMaskable || isGround(x, y) ? INK : NOTHING
  }
  const rows = Buffer.alloc(size * (1 + size * 4))
  for (let row = 0; row < size; row += 1)
    for (let column = 0; column < size; column += 1) {
      const sum = [0, 0, 0, 0]
      for (let part = 0; part < PARTS * PARTS; part += 1) {
        const x = ((column + ((part % PARTS) + 0.5) / PARTS) * 32) / size
        const y = ((row + (Math.floor(part / PARTS) + 0.5) / PARTS) * 32) / size
        const colour = colourAt(x, y)
        const alpha = colour?.[3] ?? 0
        for (let band = 0; band < 3; band += 1)
          sum[band] = (sum[band] ?? 0) + ((colour?.[band] ?? 0) * alpha) / 255
        sum[3] = (sum[3] ?? 0) + alpha
      }
      const alpha = sum[3] ?? 0
      const at = row * (1 + size * 4) + 1 + column * 4
      for (let band = 0; band < 3; band += 1)
        rows[at + band] = alpha === 0 ? 0 : Math.round(((sum[band] ?? 0) * 255) / alpha)
      rows[at + 3] = Math.round(alpha / (PARTS * PARTS))
    }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(size)
  head.writeUInt32BE(size, 4)
  head.set([8, 6, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]).toString("base64")
}

/** The icons of the installed page, by their names. */
export const icons = () => ({
  "icon-192.png": icon(192, false),
  "icon-512.png": icon(512, false),
  "icon-maskable.png": icon(512, true),
})
