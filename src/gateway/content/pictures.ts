import { setImmediate } from 'node:timers/promises';
import type { Picture } from './png.js';
import { hash, random } from './random.js';

interface Disc {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly colour: readonly [number, number, number];
}

export interface PictureRequest {
  readonly prompt: string;
  readonly seed: string;
  readonly width: number;
  readonly height: number;
  readonly transparent: boolean;
  /** 0 (clean) to 1 (film grain, and so a heavy file). */
  readonly grain: number;
}

/** Painting is work; other answers get their turn after so many pixels. */
const PIXELS_A_TURN = 200_000;

/**
 * The picture that belongs to a prompt: a graded sky, discs and a ridge, all seeded by the words. `sharpness` from 0 to 1 says how
 * far it has formed: below 1 it is a mosaic whose stones get smaller.
 */
export async function paint(request: PictureRequest, sharpness: number): Promise<Picture> {
  const { width, height } = request;
  const channels = request.transparent ? 4 : 3;
  const dice = random(`${request.seed}\n${request.prompt}`);
  const colour = (): [number, number, number] => [40 + dice.int(200), 40 + dice.int(200), 40 + dice.int(200)];
  const top = colour();
  const bottom = colour();
  const ground = colour();
  const discs: Disc[] = Array.from({ length: 3 + dice.int(4) }, () => ({
    x: dice.next(),
    y: dice.next() * 0.8,
    radius: 0.04 + dice.next() * 0.16,
    colour: colour(),
  }));
  const waves = Array.from({ length: 3 }, () => ({
    rate: 2 + dice.next() * 14,
    phase: dice.next() * 7,
    height: 0.02 + dice.next() * 0.05,
  }));
  const noise = Math.round(request.grain * 28);
  const block = sharpness >= 1 ? 1 : Math.max(2, Math.round((Math.min(width, height) / 4) * (1 - sharpness) ** 2));
  const pixels = new Uint8Array(width * height * channels);
  let grain = hash(request.prompt) | 1;

  const ridges = Float64Array.from({ length: width }, (_, x) =>
    waves.reduce((sum, wave) => sum + Math.sin((x / width) * wave.rate + wave.phase) * wave.height, 0.78),
  );
  let painted = 0;

  for (let by = 0; by < height; by += block) {
    painted += width * block;
    if (painted > PIXELS_A_TURN) {
      painted = 0;
      await setImmediate();
    }
    const v = Math.min(by + block / 2, height - 1) / height;
    for (let bx = 0; bx < width; bx += block) {
      const u = Math.min(bx + block / 2, width - 1) / width;
      let r = (top[0] + (bottom[0] - top[0]) * v) | 0;
      let g = (top[1] + (bottom[1] - top[1]) * v) | 0;
      let b = (top[2] + (bottom[2] - top[2]) * v) | 0;
      let drawn = false;
      for (const disc of discs) {
        const dx = u - disc.x;
        const dy = ((v - disc.y) * height) / width;
        if (dx * dx + dy * dy < disc.radius * disc.radius) {
          [r, g, b] = disc.colour;
          drawn = true;
        }
      }
      if (v > (ridges[Math.min(bx + (block >> 1), width - 1)] ?? 1)) {
        [r, g, b] = ground;
        drawn = true;
      }
      if (block === 1 && noise > 0) {
        // xorshift: a shade of difference on every pixel of the finished picture
        grain ^= grain << 13;
        grain ^= grain >>> 17;
        grain ^= grain << 5;
        const shade = (grain & 0xff) % (noise + 1);
        r = r > 127 ? r - shade : r + shade;
        g = g > 127 ? g - (((grain >>> 8) & 0xff) % (noise + 1)) : g + (((grain >>> 8) & 0xff) % (noise + 1));
        b = b > 127 ? b - (((grain >>> 16) & 0xff) % (noise + 1)) : b + (((grain >>> 16) & 0xff) % (noise + 1));
      }
      for (let y = by; y < by + block && y < height; y++) {
        for (let x = bx; x < bx + block && x < width; x++) {
          const at = (y * width + x) * channels;
          pixels[at] = r;
          pixels[at + 1] = g;
          pixels[at + 2] = b;
          if (channels === 4) pixels[at + 3] = drawn ? 255 : 0;
        }
      }
    }
  }
  return { width, height, channels, pixels };
}
