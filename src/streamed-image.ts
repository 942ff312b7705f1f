import { fields, text, type Fields } from './endpoints/fields.js';

/** An image, rough or final, in one shape for every endpoint. The picture is in `b64` or at `url`. */
export interface StreamedImage {
  /** A rough version on the way to the final one. */
  readonly partial: boolean;
  /** Which of several images of the answer it is, counted from 0 in the order in which they are finished. */
  readonly index: number;
  /** Of a partial image: which of its rough versions, counted from 0. */
  readonly partialIndex?: number;
  /** The picture in base64. */
  readonly b64?: string;
  /** Where the picture is, on services that keep it for you. */
  readonly url?: string;
  /** `image/png` and the like, where the service says it, or its format. */
  readonly mediaType?: string;
  /** Width and height in pixels as in `1024x1024`, or the service's own word. */
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
  /** What the service made of the prompt. */
  readonly revisedPrompt?: string;
  /** The wire's own object that held it. */
  readonly raw: object;
}

export type ImageSink = (image: StreamedImage) => void;

/** The image that an object of the wire holds under any of the endpoints' names; `undefined` if it holds none. */
export function imageOf(
  raw: Fields,
  place: Pick<StreamedImage, 'partial' | 'index' | 'partialIndex'>,
): StreamedImage | undefined {
  const link = text(raw.url) || text(raw.image_url) || text(fields(raw.image_url).url);
  const [head = '', inline] = /^data:/i.test(link) ? cut(link) : [];
  const b64 = text(raw.b64_json) || text(raw.partial_image_b64) || text(raw.result) || inline;
  if (!b64 && !link) return undefined;
  const format = text(raw.output_format);
  const known = Object.entries({
    partialIndex: place.partialIndex,
    b64,
    url: inline === undefined ? link : '',
    mediaType: text(raw.media_type) || head.slice('data:'.length).split(';')[0] || (format && `image/${format}`),
    size: text(raw.size),
    quality: text(raw.quality),
    background: text(raw.background),
    revisedPrompt: text(raw.revised_prompt),
  }).filter(([, value]) => value !== '' && value !== undefined);
  return { partial: place.partial, index: place.index, ...Object.fromEntries(known), raw };
}

/** A data URL's head, and its data if that is base64. Megabytes long: no pattern is run over it. */
function cut(url: string): readonly [string, string?] {
  const comma = url.indexOf(',');
  const head = url.slice(0, comma);
  return head.endsWith(';base64') ? [head, url.slice(comma + 1)] : [head];
}
