import { BadRequestException, Injectable, type PipeTransform } from '@nestjs/common';

/** The gateway checks what is in a request; that there is one is checked here. */
@Injectable()
export class RequestPipe implements PipeTransform<unknown, object> {
  transform(body: unknown): object {
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
    throw new BadRequestException('The body must be a JSON object');
  }
}
