import { crc32, deflate } from 'node:zlib';
import { promisify } from 'node:util';

const compress = promisify(deflate);
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Uint8Array): Buffer {
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  out.set(data, 8);
  out.writeUInt32BE(crc32(out.subarray(4, data.length + 8)), data.length + 8);
  return out;
}

/** One picture; `pixels` holds `channels` bytes a pixel (3: RGB, 4: RGBA), row by row. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
  readonly pixels: Uint8Array;
}

/**
 * The picture as a PNG file. With `atLeast`, an ancillary chunk that viewers skip fills the file up to that many bytes:
 * a real image of any weight.
 */
export async function encodePng({ width, height, channels, pixels }: Picture, atLeast = 0): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits a channel
  header[9] = channels === 4 ? 6 : 2; // colour type
  // Each row begins with its filter; `Sub` (1) stores differences to the pixel on the left, which deflate likes better.
  const stride = width * channels;
  const raw = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    const to = y * (stride + 1) + 1;
    const from = y * stride;
    raw[to - 1] = 1;
    for (let x = 0; x < stride; x++) {
      const left = x < channels ? 0 : (pixels[from + x - channels] ?? 0);
      raw[to + x] = (pixels[from + x] ?? 0) - left;
    }
  }
  const parts = [SIGNATURE, chunk('IHDR', header)];
  const body = chunk('IDAT', await compress(raw, { level: 3 }));
  const end = chunk('IEND', Buffer.alloc(0));
  const missing = atLeast - SIGNATURE.length - 25 - body.length - end.length;
  if (missing > 12) parts.push(chunk('rxPd', Buffer.alloc(missing - 12, 'fill')));
  return Buffer.concat([...parts, body, end]);
}
