import fc from 'fast-check';
import { inflateSync } from 'node:zlib';
import { at } from '../../spec/support/gateway-client.js';
import { paint, type PictureRequest } from './pictures.js';
import { encodePng, type Picture } from './png.js';
import { plan, type Ask } from './plan.js';
import { random } from './random.js';
import { instance } from './schema.js';
import { compose, hintsOf } from './text.js';
import { countTokens, tokenize } from './tokens.js';

describe('tokens', () => {
  it('put together are the text, whatever it is', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => tokenize(text).join('') === text));
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => tokenize(text).join('') === text));
  });

  it('never split a character in two', () => {
    const whole = (token: string) => !/\p{Surrogate}/u.test(token);
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => tokenize(text).every(whole)));
  });

  it('are counted as they are cut, in long texts too', () => {
    const text = 'Sencha is a green tea 🍵, 緑茶. '.repeat(3000);
    expect(countTokens(text)).toBe(tokenize(text).length);
  });

  it.each([
    ['tea', 1],
    ['Tell me more', 3],
    ['documentation', 3],
    ['抹茶です', 4],
    ['👩‍👩‍👧 🇵🇹 👋🏽', 3],
    ['one\n\ntwo', 3],
    ['"a":"b"', 5],
    ['', 0],
  ])('of %j are counted by the rule: %d', (text, count) => expect(countTokens(text)).toBe(count));
});

/** A schema and what fits it, made together, so that neither is derived from the code under test. */
interface Case {
  readonly schema: unknown;
  fits(value: unknown): boolean;
}
const { any } = fc.letrec<{ any: Case }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ min: fc.nat(5), more: fc.nat(20) }).map(({ min, more }): Case => ({
      schema: { type: 'string', minLength: min, maxLength: min + more },
      fits: (value) => typeof value === 'string' && [...value].length >= min && [...value].length <= min + more,
    })),
    fc.record({ min: fc.integer({ min: -50, max: 50 }), more: fc.nat(30) }).map(({ min, more }): Case => ({
      schema: { type: 'integer', minimum: min, maximum: min + more },
      fits: (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= min + more,
    })),
    fc
      .record({ min: fc.integer({ min: -50, max: 50 }), step: fc.constantFrom(0.5, 2, 5) })
      .map(({ min, step }): Case => ({
        schema: { type: 'number', exclusiveMinimum: min, multipleOf: step },
        fits: (value) =>
          typeof value === 'number' && value > min && Math.abs(value / step - Math.round(value / step)) < 1e-9,
      })),
    fc.constant<Case>({ schema: { type: 'boolean' }, fits: (value) => typeof value === 'boolean' }),
    fc
      .uniqueArray(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 4 })
      .map((all): Case => ({ schema: { enum: all }, fits: (value) => all.includes(value as never) })),
    fc.jsonValue().map((only): Case => ({
      schema: { const: only },
      fits: (value) => JSON.stringify(value) === JSON.stringify(only),
    })),
    fc.record({ item: tie('any'), min: fc.nat(3), more: fc.nat(3) }).map(({ item, min, more }): Case => ({
      schema: { type: 'array', items: item.schema, minItems: min, maxItems: min + more },
      fits: (value) =>
        Array.isArray(value) &&
        value.length >= min &&
        value.length <= min + more &&
        value.every((one) => item.fits(one)),
    })),
    fc.dictionary(fc.string({ maxLength: 6 }), tie('any'), { maxKeys: 4 }).map((properties): Case => ({
      schema: {
        type: ['object', 'null'],
        properties: Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, one.schema])),
        required: Object.keys(properties),
        additionalProperties: false,
      },
      fits: (value) =>
        typeof value === 'object' &&
        value !== null &&
        Object.keys(value).length === Object.keys(properties).length &&
        Object.entries(properties).every(([key, one]) => one.fits((value as Record<string, unknown>)[key])),
    })),
    tie('any').map((one): Case => ({
      schema: { anyOf: [{ type: 'null' }, one.schema] },
      fits: (value) => value === null || one.fits(value),
    })),
    tie('any').map((one): Case => ({ schema: { allOf: [one.schema] }, fits: (value) => one.fits(value) })),
  ),
}));

describe('an instance of a JSON schema', () => {
  const make = (schema: unknown, prompt = '', seed = 'seed') => instance(schema, random(seed), hintsOf(prompt));

  it('fits the schema', () => {
    fc.assert(
      fc.property(any, fc.string(), fc.string(), ({ schema, fits }, prompt, seed) => fits(make(schema, prompt, seed))),
      { numRuns: 500 },
    );
  });

  it('is the same for the same seed', () => {
    fc.assert(
      fc.property(
        any,
        fc.string(),
        ({ schema }, seed) => JSON.stringify(make(schema, 'Tea', seed)) === JSON.stringify(make(schema, 'Tea', seed)),
      ),
    );
  });

  it('follows references, into $defs and in circles', () => {
    const schema = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            colour: { $ref: '#/$defs/co~1lour' },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
          },
          required: ['name', 'colour', 'children'],
        },
        'co/lour': { enum: ['red'] },
      },
    };
    const tree = make(schema);
    expect(at(tree, 'colour')).toBe('red');
    expect(at(tree, 'children', 0, 'colour')).toBe('red');
    expect(JSON.stringify(tree).length).toBeLessThan(20_000);
    expect(make({ $ref: '#' })).toBeDefined();
  });

  it('speaks of what the prompt names', () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer', minimum: 1, maximum: 9 },
        unit: { enum: ['F', 'celsius'] },
      },
    };
    expect(make(schema, 'The weather in Porto for 3 days, in celsius')).toEqual({
      city: 'Porto',
      days: 3,
      unit: 'celsius',
    });
  });

  it.each([
    ['date', /^\d{4}-\d{2}-\d{2}$/],
    ['date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/],
    ['email', /^\S+@\S+$/],
    ['uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
    ['uri', /^https:/],
  ])('knows the format %s', (format, shape) => expect(make({ type: 'string', format })).toMatch(shape));

  it.each(['^[A-Z]{3}-\\d{4}$', '^(red|green)$', '^#[0-9a-f]{6}$', '^v\\d+\\.\\d+$'])(
    'fits the pattern %s',
    (pattern) => {
      expect(make({ type: 'string', pattern })).toMatch(new RegExp(pattern));
    },
  );

  it('does no harm with property names of objects’ insides', () => {
    const value = make(
      JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"integer"},"constructor":{"type":"string"}},"required":["__proto__","constructor"]}',
      ),
    );
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('never throws, whatever the schema', () => {
    fc.assert(fc.property(fc.jsonValue(), (schema) => void make(schema)));
    for (const schema of [
      null,
      5,
      { type: 'nothing' },
      { $ref: '#/none' },
      { type: 'string', pattern: '(' },
      { allOf: 3 },
      { enum: [] },
    ])
      make(schema);
  });
});

describe('an answer', () => {
  const ask = (prompt: string, beside: Partial<Ask> = {}): Ask => ({
    model: 'm',
    stream: true,
    prompt,
    inputTokens: 5,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    tools: [],
    toolChoice: 'auto',
    parallel: undefined,
    turns: 1,
    toolResults: [],
    effort: undefined,
    format: undefined,
    maxTokens: undefined,
    n: 1,
    stop: [],
    seed: 's',
    ...beside,
  });
  const text = (prompt: string, beside?: Partial<Ask>) => plan(ask(prompt, beside)).choices[0]?.text.join('') ?? '';

  it('is about what the prompt is about, in its length and form', () => {
    expect(text('Tell me about volcanoes')).toMatch(/volcanoes/i);
    expect(text('Write a haiku about trains').split('\n')).toHaveLength(3);
    expect(text('Give me five tips for sleeping').split('\n')).toHaveLength(5);
    expect(text('Explain rivers in 40 words').split(' ')).toHaveLength(40);
    expect(text('Write code that reverses text')).toContain('```ts');
    expect(text('Count to 5')).toBe('1, 2, 3, 4, 5.');
    expect(text('Repeat: „So“ 二 🐢')).toBe('„So“ 二 🐢');
    expect(text('Tell me everything in 2 paragraphs').split('\n\n')).toHaveLength(2);
  });

  it.each([
    ['緑茶について教えて', /\p{Script=Hiragana}/u],
    ['请介绍一下绿茶', /\p{Script=Han}/u],
    ['Расскажи о чае', /\p{Script=Cyrillic}/u],
    ['حدثني عن الشاي', /\p{Script=Arabic}/u],
    ['차에 대해 알려줘', /\p{Script=Hangul}/u],
    ['Tell me about tea', /[^\p{ASCII}]/u],
  ])('to %s has the script it was asked in', (prompt, script) => expect(text(prompt)).toMatch(script));

  it('has emoji', () => expect(text('Tell me a long story about ships')).toMatch(/\p{Extended_Pictographic}/u));

  it('of several choices differs among them', () => {
    expect(new Set(plan(ask('Tell me about tea', { n: 4 })).choices.map((choice) => choice.text.join(''))).size).toBe(
      4,
    );
  });

  it('never has more tokens than it may', () => {
    const tools = [
      { name: 'get_weather', custom: false, schema: { type: 'object', properties: { city: { type: 'string' } } } },
    ];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.boolean(), fc.boolean(), (maxTokens, think, call) => {
        const planned = plan(
          ask('Weather in Paris and in Oslo?', {
            maxTokens,
            effort: think ? 'high' : undefined,
            tools: call ? tools : [],
          }),
        );
        const cut = planned.choices[0]?.finish === 'length';
        return planned.outputTokens <= maxTokens && (cut || planned.outputTokens > 0);
      }),
    );
  });

  it('is final once a tool has answered, unless a call is demanded', () => {
    const tools = [{ name: 'now', custom: false, schema: {} }];
    const toolResults = [{ name: 'now', text: '{"clock":"12:30"}' }];
    expect(plan(ask('Time now?', { tools })).choices[0]?.finish).toBe('tool_calls');
    expect(text('Time now?', { tools, toolResults })).toContain('now says clock 12:30');
    expect(plan(ask('Time now?', { tools, toolResults, toolChoice: 'required' })).choices[0]?.finish).toBe(
      'tool_calls',
    );
    expect(plan(ask('Time now?', { tools, toolChoice: 'none' })).choices[0]?.finish).toBe('stop');
  });

  it('calls one tool when parallel calls are forbidden, and several when asked', () => {
    const tools = ['get_weather', 'get_time'].map((name) => ({ name, custom: false, schema: {} }));
    const names = (prompt: string, parallel?: boolean) =>
      plan(ask(prompt, { tools, parallel })).choices[0]?.calls.map((call) => call.name);
    expect(names('Do it', true)).toEqual(['get_weather', 'get_time']);
    expect(names('The weather and the time, both', false)).toEqual(['get_weather']);
    expect(names('The weather and the time, both')).toEqual(['get_weather', 'get_time']);
    expect(names('The time')).toEqual(['get_time']);
  });

  it('comes quickly, however long the prompt', () => {
    const started = Date.now();
    compose(`${'A1 '.repeat(1_000_000)}one `.repeat(3), 's');
    compose('9'.repeat(3_000_000), 's');
    expect(Date.now() - started).toBeLessThan(1500);
  });

  it('is composed without end or error for any prompt', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (prompt) => compose(prompt, 's').length > 0));
  });
});

describe('pictures', () => {
  const request: PictureRequest = {
    prompt: 'A teapot',
    seed: 's',
    width: 96,
    height: 64,
    transparent: false,
    grain: 0.5,
  };

  /** The pixels of a PNG file, by the book: checksums, filters and all. */
  function decode(file: Buffer): Picture {
    expect(file.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    const parts: Buffer[] = [];
    let [width, height, channels]: [number, number, 3 | 4] = [0, 0, 3];
    const types: string[] = [];
    for (let here = 8; here < file.length;) {
      const size = file.readUInt32BE(here);
      const type = file.toString('latin1', here + 4, here + 8);
      const body = file.subarray(here + 8, here + 8 + size);
      types.push(type);
      let crc = 0xffffffff;
      for (const byte of file.subarray(here + 4, here + 8 + size)) {
        crc ^= byte;
        for (let k = 0; k < 8; k++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
      }
      expect(file.readUInt32BE(here + 8 + size)).toBe((crc ^ 0xffffffff) >>> 0);
      if (type === 'IHDR')
        [width, height, channels] = [body.readUInt32BE(0), body.readUInt32BE(4), body[9] === 6 ? 4 : 3];
      if (type === 'IDAT') parts.push(body);
      here += size + 12;
    }
    expect([types[0], types.at(-1)]).toEqual(['IHDR', 'IEND']);
    const raw = inflateSync(Buffer.concat(parts));
    const stride = width * channels;
    expect(raw.length).toBe((stride + 1) * height);
    const pixels = new Uint8Array(stride * height);
    for (let y = 0; y < height; y++) {
      expect(raw[y * (stride + 1)]).toBe(1);
      for (let x = 0; x < stride; x++) {
        const left = x < channels ? 0 : (pixels[y * stride + x - channels] ?? 0);
        pixels[y * stride + x] = (raw[y * (stride + 1) + 1 + x] ?? 0) + left;
      }
    }
    return { width, height, channels, pixels };
  }

  it.each([false, true])('come back from their PNG as they were (transparent: %s)', async (transparent) => {
    const picture = await paint({ ...request, transparent }, 1);
    expect(decode(await encodePng(picture))).toEqual(picture);
  });

  it('weigh as much as asked and are still PNGs', async () => {
    const file = await encodePng(await paint(request, 1), 5_000_000);
    expect(file.length).toBe(5_000_000);
    expect(decode(file).width).toBe(96);
  });

  it('weigh megabytes at a usual size', async () => {
    const file = await encodePng(await paint({ ...request, width: 1024, height: 1024, grain: 1 }, 1));
    expect(file.length).toBeGreaterThan(1_500_000);
  });

  it('grow sharper from frame to frame, towards the finished one', async () => {
    const final = (await paint({ ...request, grain: 0 }, 1)).pixels;
    const distances: number[] = [];
    for (const sharpness of [0.25, 0.5, 0.75, 1]) {
      const { pixels } = await paint({ ...request, grain: 0 }, sharpness);
      distances.push(pixels.reduce((sum, value, i) => sum + Math.abs(value - (final[i] ?? 0)), 0));
    }
    expect(distances).toEqual([...distances].sort((a, b) => b - a));
    expect(distances[0]).toBeGreaterThan((distances[2] ?? 0) * 1.5);
    expect(distances[3]).toBe(0);
  });

  it('differ by prompt', async () => {
    const [teapot, train] = [await paint(request, 1), await paint({ ...request, prompt: 'A train' }, 1)];
    expect(teapot.pixels).not.toEqual(train.pixels);
  });
});
