import { chatImages } from '../endpoints/chat-completions/images.js';
import { imagesImages } from '../endpoints/images/images.js';
import { responsesImages } from '../endpoints/responses/images.js';
import type { ImageSink } from '../streamed-image.js';
import type { Concept } from './concept.js';

/** Images with rough versions before them. */
export const previewedImages = {
  responses: responsesImages,
  images: imagesImages,
} satisfies Concept<ImageSink, 'responses' | 'images'>;

/** All images; in chat they come as they are. */
export const images = {
  ...previewedImages,
  chatCompletions: chatImages,
} satisfies Concept<ImageSink, 'chatCompletions' | 'responses' | 'images'>;
