import type { HttpInterceptorFn } from '@angular/common/http';

/** The gateway of this example takes any key. A real one belongs to a backend, never to a page. */
export const DEMO_KEY = 'demo-key-of-the-example';

export const authInterceptor: HttpInterceptorFn = (request, next) =>
  next(request.clone({ setHeaders: { authorization: `Bearer ${DEMO_KEY}` } }));
