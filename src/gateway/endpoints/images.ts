import { paint, type PictureRequest } from '../content/pictures.js';
import { encodePng } from '../content/png.js';
import { countTokens } from '../content/tokens.js';
import { own, type Json } from '../json.js';
import { wordsOf } from '../problems.js';
import { bad, comment, DONE, event, type Answer, type Frame, type Problem, type Rendering } from '../protocol.js';
import { requireModel, requireStream, wholeNumber } from './asking.js';

const MAX_SIDE = 8192;
const MAX_PIXELS = 4096 * 4096;
const PARTIAL_TOKENS = 100;

export interface ImageAsk {
  readonly model: string;
  readonly stream: boolean;
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  readonly n: number;
  readonly partials: number;
  readonly quality: string;
  readonly background: string;
  readonly edit: boolean;
  readonly seed: string;
}

/** Reads a request for images, or refuses it as the gateways do. */
export function readImages(body: Json, seed: string, edit: boolean): ImageAsk {
  const model = edit && own(body, 'model') === undefined ? 'gpt-image-1' : requireModel(body);
  const prompt = own(body, 'prompt');
  if (typeof prompt !== 'string' || prompt.trim() === '') bad('prompt', "'prompt' is required and must be a string");
  const size = word(body, 'size') ?? 'auto';
  const [, w, h] = /^(\d+)x(\d+)$/.exec(size) ?? [];
  if (size !== 'auto' && w === undefined) bad('size', "'size' must be 'auto' or WIDTHxHEIGHT");
  const [width, height] = [Number(w ?? 1024), Number(h ?? 1024)];
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS) {
    bad('size', `'size' must be from 1x1 up to ${MAX_SIDE} a side and ${MAX_PIXELS} pixels in all`);
  }
  const format = word(body, 'output_format') ?? 'png';
  if (format !== 'png') bad('output_format', "'output_format' must be 'png': this gateway paints PNG only");
  const quality = word(body, 'quality') ?? 'auto';
  if (!['low', 'medium', 'high', 'xhigh', 'max', 'auto', 'standard', 'hd'].includes(quality))
    bad('quality', "'quality' must be low, medium, high or auto");
  const background = word(body, 'background') ?? 'auto';
  if (!['transparent', 'opaque', 'auto'].includes(background))
    bad('background', "'background' must be transparent, opaque or auto");
  return {
    model,
    stream: requireStream(body),
    prompt: prompt,
    width,
    height,
    n: wholeNumber(body, 'n', 1, 10) ?? 1,
    partials: wholeNumber(body, 'partial_images', 0, 3) ?? 0,
    quality,
    background: background === 'auto' ? 'opaque' : background,
    edit,
    seed,
  };
}

function word(body: Json, key: string): string | undefined {
  const value = own(body, key) ?? undefined;
  if (value !== undefined && typeof value !== 'string') bad(key, `'${key}' must be a string`);
  return value;
}

/** How far the picture is at each partial frame. */
const sharpnessAt = (index: number, partials: number) => (index + 1) / (partials + 1);

export function imageTokens(ask: ImageAsk): number {
  const detail = { low: 0.25, medium: 1, high: 4, xhigh: 6, max: 8, hd: 4 }[ask.quality] ?? 1;
  return Math.max(16, Math.ceil(((ask.width * ask.height) / 1024) * detail));
}

/** An answer of the Images endpoint: partial frames that grow sharper, then the finished pictures. */
export function renderImages(ask: ImageAsk, answer: Answer, incomplete: boolean): Rendering {
  const { dialect } = answer;
  const inputTokens = countTokens(ask.prompt) + 3;
  const perImage = imageTokens(ask);
  const total = ask.n * (perImage + (ask.stream ? ask.partials * PARTIAL_TOKENS : 0));
  const stem = ask.edit ? 'image_edit' : 'image_generation';
  const common = {
    size: `${ask.width}x${ask.height}`,
    quality: ask.quality,
    background: ask.background,
    output_format: 'png',
  };
  const usage = (output: number): Json => ({
    input_tokens: inputTokens,
    input_tokens_details: { text_tokens: inputTokens, image_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { text_tokens: 0, image_tokens: output },
    total_tokens: inputTokens + output,
    ...(dialect === 'a' ? { cost: answer.cost(inputTokens, 0, output) } : {}),
  });
  const picture = (image: number): PictureRequest => ({
    prompt: ask.prompt,
    seed: `${ask.seed}/${image}`,
    width: ask.width,
    height: ask.height,
    transparent: ask.background === 'transparent',
    grain: { low: 0.1, medium: 0.5, high: 1, xhigh: 1, max: 1, hd: 1 }[ask.quality] ?? 0.5,
  });
  const png = async (image: number, sharpness: number, atLeast = 0) =>
    (await encodePng(await paint(picture(image), sharpness), atLeast)).toString('base64');

  async function* frames(): AsyncGenerator<Frame> {
    let output = 0;
    for (let image = 0; image < ask.n; image++) {
      for (let index = 0; index < ask.partials; index++) {
        const b64_json = await png(image, sharpnessAt(index, ask.partials));
        output += PARTIAL_TOKENS;
        yield event(
          {
            type: `${stem}.partial_image`,
            b64_json,
            partial_image_index: index,
            created_at: answer.created,
            ...common,
          },
          PARTIAL_TOKENS,
        );
      }
      if (incomplete && image === ask.n - 1) break;
      const b64_json = await png(image, 1, image === 0 ? answer.hugeBytes : 0);
      output += perImage;
      const last = image === ask.n - 1;
      const frame = event(
        { type: `${stem}.completed`, b64_json, created_at: answer.created, ...common, usage: usage(output) },
        perImage,
      );
      // B has no sentinel, so there its last picture ends the answer.
      yield last && dialect === 'b' ? { ...frame, terminator: true } : frame;
    }
    if (dialect === 'a') yield DONE;
  }

  const error = (problem: Problem): Frame[] => [
    event({
      type: 'error',
      error: {
        type: problem.type ?? wordsOf(problem.status).b,
        code: problem.code ?? wordsOf(problem.status).a,
        message: problem.message,
        param: null,
      },
    }),
    ...(dialect === 'a' ? [DONE] : []),
  ];

  return {
    plannedTokens: total,
    inputTokens,
    cachedTokens: 0,
    frames,
    error,
    failed: error,
    keepAlive: () => comment(dialect === 'a' ? 'GATEWAY PROCESSING' : 'keepalive'),
    whole: async () => ({
      created: answer.created,
      data: await Promise.all(
        Array.from({ length: ask.n }, async (_, image) => ({
          b64_json: await png(image, 1, image === 0 ? answer.hugeBytes : 0),
        })),
      ),
      ...common,
      usage: usage(ask.n * perImage),
    }),
  };
}
