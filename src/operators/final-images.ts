import type { OperatorFunction } from 'rxjs';
import { images } from '../concepts/images.js';
import type { ChatLike, ImagesLike, ResponsesLike } from '../events.js';
import type { StreamedImage } from '../streamed-image.js';
import { read } from './read.js';

/**
 * Emits each finished image once, as it comes: of the images endpoint, of the image tool on Responses, and those that
 * chat models answer with (choice 0).
 *
 * Completes and errors with its source; images that were finished before an error have been emitted. Unsubscribing
 * unsubscribes from the source, and so aborts the request.
 *
 * ```text
 * source           --p----q----c--|     p, q: partial images, c: the completed one
 * finalImages()    ------------c--|
 * ```
 *
 * @example
 * ```ts
 * import { createLlmClient, finalImages } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .images({ model: 'm', prompt: 'A tin robot' })
 *   .pipe(finalImages())
 *   .subscribe(({ b64, url, mediaType = 'image/png' }) => console.log(url ?? `data:${mediaType};base64,${b64}`));
 * ```
 */
export function finalImages(): OperatorFunction<ImagesLike | ResponsesLike | ChatLike, StreamedImage> {
  return read(images, (destination) => ({
    sink(image: StreamedImage) {
      if (!image.partial) destination.next(image);
    },
  }));
}
