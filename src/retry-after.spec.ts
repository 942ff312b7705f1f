import fc from 'fast-check';
import { retryAfterMs } from './retry-after.js';

const NOW = Date.parse('Tue, 03 Jun 2025 10:00:00 GMT');
const read = (headers: Record<string, string>) => retryAfterMs(headers, () => NOW);

describe('retryAfterMs', () => {
  it.each([
    ['seconds', { 'retry-after': '2' }, 2000],
    ['seconds with a fraction', { 'retry-after': '1.5' }, 1500],
    ['seconds with blanks', { 'retry-after': ' 3 ' }, 3000],
    ['zero seconds', { 'retry-after': '0' }, 0],
    ['the first of a repeated header', { 'retry-after': '4, 9' }, 4000],
    ['milliseconds', { 'retry-after-ms': '250' }, 250],
    ['milliseconds with a fraction', { 'retry-after-ms': '250.5' }, 250.5],
    ['milliseconds before seconds', { 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    ['milliseconds before a date', { 'retry-after-ms': '250', 'retry-after': 'Tue, 03 Jun 2025 10:00:07 GMT' }, 250],
    ['a date that is now', { 'retry-after': 'Tue, 03 Jun 2025 10:00:00 GMT' }, 0],
    ['seconds where milliseconds are garbage', { 'retry-after-ms': 'x', 'retry-after': '9' }, 9000],
    ['a date, against the wall clock', { 'retry-after': 'Tue, 03 Jun 2025 10:00:07 GMT' }, 7000],
    [
      'a date, against the own Date of the answer',
      { 'retry-after': 'Fri, 01 Jan 2010 00:00:30 GMT', date: 'Fri, 01 Jan 2010 00:00:00 GMT' },
      30_000,
    ],
    ['a date, where Date is garbage', { 'retry-after': 'Tue, 03 Jun 2025 10:00:07 GMT', date: 'today' }, 7000],
    ['an old form of date', { 'retry-after': 'Tuesday, 03-Jun-25 10:00:02 GMT' }, 2000],
    ['an ISO date', { 'retry-after': '2025-06-03T10:00:05Z' }, 5000],
    ['a huge number', { 'retry-after': '9'.repeat(400) }, Number.MAX_SAFE_INTEGER],
  ])('reads %s', (_, headers, expected) => {
    expect(read(headers as Record<string, string>)).toBe(expected);
  });

  it.each([
    ['no header', {}],
    ['words', { 'retry-after': 'soon' }],
    ['words with a number in them', { 'retry-after': 'try 2099' }],
    ['an empty value', { 'retry-after': '' }],
    ['a negative number', { 'retry-after': '-5', 'retry-after-ms': '-1' }],
    ['NaN', { 'retry-after': 'NaN' }],
    ['Infinity', { 'retry-after': 'Infinity' }],
    ['a duration with a unit', { 'retry-after': '6m0s' }],
    ['a date in the past', { 'retry-after': 'Wed, 01 Jan 2020 00:00:00 GMT' }],
    ['a time that is no date', { 'retry-after': 'at 99:99:99' }],
  ])('says nothing for %s', (_, headers) => {
    expect(read(headers as Record<string, string>)).toBeUndefined();
  });

  it('never gives anything but a finite wait that is not negative', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (seconds, ms, date) => {
        const wait = read({ 'retry-after': seconds, 'retry-after-ms': ms, date });
        return wait === undefined || (wait >= 0 && Number.isFinite(wait));
      }),
    );
  });
});
