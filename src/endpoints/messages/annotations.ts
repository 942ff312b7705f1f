import { annotationOf, annotationsOf } from '../../annotation.js';
import type { AnnotationSink } from '../../concepts/annotations.js';
import type { Reader } from '../../concepts/concept.js';
import { fields, list } from '../fields.js';

/** Citations come in deltas of a text block, or with the block. None is repeated, and each cites its block's text. */
export function messagesAnnotations(sink: AnnotationSink): Reader<object> {
  return {
    next(event) {
      const { type, delta, content_block, message } = fields(event);
      const citations =
        type === 'content_block_delta'
          ? [fields(delta).citation]
          : type === 'content_block_start'
            ? list(fields(content_block).citations)
            : type === 'message_start'
              ? annotationsOf(fields(message).content, 'citations')
              : [];
      for (const citation of citations) if (fields(citation).type) sink(annotationOf(fields(citation), 0));
    },
  };
}
