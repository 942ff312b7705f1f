import type { OperatorFunction } from 'rxjs';
import { previewedImages } from '../concepts/images.js';
import type { ImagesLike, ResponsesLike } from '../events.js';
import type { StreamedImage } from '../streamed-image.js';
import { read } from './read.js';

/**
 * Emits each rough version of an image, as it forms. How many come is up to the service: none at all if it is quick.
 * The final image is left to {@link finalImages}.
 *
 * Completes and errors with its source. Unsubscribing unsubscribes from the source, and so aborts the request.
 *
 * ```text
 * source             --p----q----c--|     p, q: partial images, c: the completed one
 * partialImages()    --p----q-------|
 * ```
 *
 * @example
 * ```ts
 * import { createLlmClient, partialImages } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .images({ model: 'm', prompt: 'A tin robot', partial_images: 2 })
 *   .pipe(partialImages())
 *   .subscribe(({ b64, mediaType = 'image/png' }) => console.log(`data:${mediaType};base64,${b64}`));
 * ```
 */
export function partialImages(): OperatorFunction<ImagesLike | ResponsesLike, StreamedImage> {
  return read(previewedImages, (destination) => ({
    sink(image: StreamedImage) {
      if (image.partial) destination.next(image);
    },
  }));
}
