import { connect, merge, type OperatorFunction } from 'rxjs';
import { finalImages, partialImages, type ImageStreamEvent, type StreamedImage } from 'rx-llm';

/** Each version of a picture as it comes, the rough ones and the last. */
export function pictures(): OperatorFunction<ImageStreamEvent, StreamedImage> {
  return connect((events) => merge(events.pipe(partialImages()), events.pipe(finalImages())));
}
