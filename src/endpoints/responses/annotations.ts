import { AnnotationFilter, annotationsOf } from '../../annotation.js';
import type { AnnotationSink } from '../../concepts/annotations.js';
import type { Reader } from '../../concepts/concept.js';
import { fields, list } from '../fields.js';
import { finalResponse } from './item-texts.js';

/** Each comes in an event of its own; parts, items and the final response repeat them, or are all that comes. */
export function responsesAnnotations(sink: AnnotationSink): Reader<object> {
  const filter = new AnnotationFilter(sink);
  const add = (annotations: readonly unknown[]): void => {
    for (const annotation of annotations) filter.add(annotation);
  };
  return {
    next(wire) {
      const event = fields(wire);
      switch (event.type) {
        case 'response.output_text.annotation.added':
          return add([event.annotation]);
        case 'response.content_part.added':
        case 'response.content_part.done':
          return add(list(fields(event.part).annotations));
        case 'response.output_item.added':
        case 'response.output_item.done':
          return add(annotationsOf(fields(event.item).content, 'annotations'));
      }
      for (const item of list(finalResponse(event)?.output)) add(annotationsOf(fields(item).content, 'annotations'));
    },
  };
}
