import type { Hints } from './schema.js';
import { random, type Random } from './random.js';

/** A prompt that holds these words is declined, in the endpoint's own way. */
export const REFUSAL_PHRASE = 'please refuse';

const COMMON = new Set(
  'the and for are you how why who can has had not but was out all any one two its may our use get let put say see try ask did way too off yes per via about above after again also always answer because been before being between both call could describe does down each every explain find first following from give have here into just keep know like list make many might more most must need only other over please reply respond same short should show since some such tell than that their them then there these they thing this those through today under until using very want what when where which while will with within without would write your yours sentence sentences word words paragraph'.split(
    ' ',
  ),
);

/** What of a prompt shapes its answer. A document may be pasted below the question; its end is as good as all of it. */
const SHAPING = 4000;
const shaping = (prompt: string) =>
  prompt.length <= SHAPING ? prompt : `${prompt.slice(0, SHAPING / 2)}\n${prompt.slice(-SHAPING / 2)}`;

/** The words of a prompt that carry its subject. */
export function hintsOf(whole: string): Hints {
  const prompt = shaping(whole);
  const quoted = [...prompt.matchAll(/["“«「]([^"”»」]{1,60})["”»」]/gu)].map((m) => (m[1] ?? '').trim());
  const proper = [...prompt.matchAll(/(?<![.!?]\s|^|\p{L})\p{Lu}[\p{L}\p{M}'’-]+(?: \p{Lu}[\p{L}\p{M}'’-]+)*/gu)].map(
    (m) => m[0],
  );
  const plain = (prompt.match(/[\p{L}\p{M}][\p{L}\p{M}'’-]{2,}/gu) ?? []).filter(
    (word) => !COMMON.has(word.toLowerCase()),
  );
  const numbers = (prompt.match(/-?\d+(?:\.\d+)?/g) ?? [])
    .map(Number)
    .filter((n) => Number.isFinite(n) && Math.abs(n) < 1e12);
  return { words: [...new Set([...quoted, ...proper, ...plain].filter(Boolean))], numbers };
}

interface Voice {
  readonly script: RegExp;
  readonly lines: readonly [string, ...string[]];
}

/** Answers in the script of the question; `{t}` and `{u}` are words of the prompt. */
const VOICES: readonly Voice[] = [
  {
    script: /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
    lines: [
      '{t}について、まず静かに観察します。',
      '小さな手順から始めるのが一番です 🍵。',
      '{u}との違いは、水と時間にあります。',
      '急がなければ、答えは自然に見えてきます ✨。',
    ],
  },
  {
    script: /\p{Script=Han}/u,
    lines: [
      '关于{t}，先看它的来历。',
      '其次，{u}需要耐心和时间 🐉。',
      '把每一步写下来，结果就会清楚。',
      '最后，慢慢来，比较快 🌿。',
    ],
  },
  {
    script: /\p{Script=Hangul}/u,
    lines: [
      '{t}에 대해 먼저 천천히 살펴봅시다.',
      '작은 단계부터 시작하면 좋습니다 🌱.',
      '{u}와 비교하면 차이가 분명해집니다.',
      '서두르지 않으면 답이 보입니다 ✨.',
    ],
  },
  {
    script: /\p{Script=Cyrillic}/u,
    lines: [
      'О «{t}» лучше начать с простого.',
      'Затем сравните это с «{u}» и запишите разницу 📝.',
      'Маленькие шаги надёжнее больших обещаний.',
      'Терпение окупается — проверено ☕.',
    ],
  },
  {
    script: /\p{Script=Greek}/u,
    lines: ['Για το «{t}» ας αρχίσουμε από τα απλά.', 'Ύστερα το συγκρίνουμε με το «{u}» 🌊.', 'Λίγη υπομονή αρκεί.'],
  },
  {
    script: /\p{Script=Arabic}/u,
    lines: ['لنبدأ مع {t} بخطوة صغيرة.', 'ثم نقارنه مع {u} ونكتب الفرق 🌙.', 'الصبر مفتاح الفرج.'],
  },
  { script: /\p{Script=Hebrew}/u, lines: ['נתחיל עם {t} בצעד קטן.', 'אחר כך נשווה אותו אל {u} 🕊️.', 'סבלנות משתלמת.'] },
  {
    script: /\p{Script=Devanagari}/u,
    lines: ['{t} को पहले सरल रूप में देखें।', 'फिर {u} से उसकी तुलना करें 🪔।', 'छोटे क़दम भरोसेमंद होते हैं।'],
  },
  { script: /\p{Script=Thai}/u, lines: ['เริ่มจาก {t} อย่างช้าๆ', 'แล้วเปรียบเทียบกับ {u} 🐘', 'ความอดทนให้ผลเสมอ'] },
];

const OPENINGS = [
  'Start with {t}: the simplest account of it is usually the right one.',
  'The short answer on {t} is that it depends on {u}, and on a little patience.',
  '{T} rewards a slow, naïve first look — the details come later.',
  'Think of {t} as a river: {u} is only one of its banks 🌊.',
] as const;
const MIDDLES = [
  'In practice {n} small steps beat one big plan.',
  'People often confuse {t} with {u}; the difference shows once you measure it.',
  'A café in 東京 keeps a note about this on its wall: “Ça dépend.” ☕',
  'Write down what you expect, try it, and compare — {n} minutes are enough.',
  'Where {u} matters most, keep {t} plain and the rest optional.',
  'The Greeks said μέτρον ἄριστον, and {t} is no exception 🏛️.',
  'Half of the work is naming things well; the other half is {u}.',
  'On a good day it takes {n} tries, on a rainy one {m} 🌧️.',
] as const;
const CLOSINGS = [
  'That is {t} in a nutshell 🥜.',
  'Begin there, and {u} will follow — спокойно, as they say 🐢.',
  'If only one thing stays with you, let it be {t} ✨.',
  'The rest is practice, and perhaps a cup of 抹茶 🍵.',
] as const;

function fill(line: string, hints: Hints, dice: Random): string {
  const [t = 'the question', u = 'its context'] = [
    hints.words[dice.int(Math.min(2, hints.words.length))],
    hints.words[2] ?? hints.words[1],
  ];
  return line.replace(/\{([tTunm])\}/g, (_, slot: string) => {
    if (slot === 't') return t;
    if (slot === 'T') return t.charAt(0).toUpperCase() + t.slice(1);
    if (slot === 'u') return u;
    return String(slot === 'n' ? (hints.numbers[0] ?? 2 + dice.int(8)) : 9 + dice.int(30));
  });
}

const NUMBER_WORDS: Record<string, number> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
};

function asked(prompt: string, unit: string): number | undefined {
  const found = new RegExp(
    `(\\d+|one|two|three|four|five|six|seven|eight|nine|ten)[ -](?:\\p{L}+ )?${unit}`,
    'iu',
  ).exec(prompt)?.[1];
  return found === undefined ? undefined : (NUMBER_WORDS[found.toLowerCase()] ?? Math.min(Number(found), 20_000));
}

/** What the prompt wants said word for word: `Say "…"`, `Repeat: …`, `Echo …`. */
function echo(prompt: string): string | undefined {
  const found = /^\s*(?:please )?(?:say|repeat|echo|write exactly)(?:\s*:\s*|\s+(?=["“'`]))(.+)$/isu
    .exec(prompt)?.[1]
    ?.trim();
  return found?.replace(/^["“'`]([\s\S]*)["”'`][.!]?$/u, '$1');
}

/** The answer to a prompt: the same for the same seed, shaped by what was asked for. */
export function compose(whole: string, seed: string): string {
  const said = echo(whole);
  if (said) return said;
  const prompt = shaping(whole);
  const dice = random(`${seed}\n${whole.length}\n${prompt}`);
  const hints = hintsOf(prompt);

  const upTo = /\bcount (?:up )?(?:from 1 )?to (\d{1,5})/i.exec(prompt)?.[1];
  if (upTo) return Array.from({ length: Number(upTo) }, (_, i) => i + 1).join(', ') + '.';

  if (/\bhaiku\b/i.test(prompt)) {
    return [
      fill(dice.pick(['{T} at daybreak', 'Old pond, new {t}', 'Quiet, {t} — and']), hints, dice),
      fill(
        dice.pick(['the cursor blinks, {u} waits', 'a test turns green, {u} breathes', 'rain writes {u} on stone']),
        hints,
        dice,
      ),
      dice.pick(['one leaf lands softly 🍂', '静けさや、蛙 🐸', 'then the kettle sings 🫖']),
    ].join('\n');
  }
  if (/\b(?:code|function|snippet|script)\b/i.test(prompt) && /\b(?:write|show|give|example)\b/i.test(prompt)) {
    const name = (hints.words.find((word) => /^[a-z]+$/i.test(word)) ?? 'answer').toLowerCase();
    return `Here it is:\n\n\`\`\`ts\n// ${fill('{t} → {u}', hints, dice)}\nexport function ${name}(input: string): string {\n  return [...input].reverse().join('');\n}\n\`\`\`\n\nIt reverses by code point, so “naïve 🐢” survives.`;
  }
  const items =
    asked(prompt, '(?:steps?|items?|points?|tips|reasons|ideas|examples)') ??
    (/\b(?:list|bullets?|steps)\b/i.test(prompt) ? 4 : undefined);
  if (items !== undefined) {
    return Array.from(
      { length: Math.min(items, 200) },
      (_, i) => `${i + 1}. ${fill(dice.pick(MIDDLES), hints, dice)}`,
    ).join('\n');
  }

  const voice = VOICES.find((v) => v.script.test(prompt));
  const words = asked(prompt, 'words?');
  const sentences = words !== undefined ? Infinity : (asked(prompt, 'sentences?') ?? length(prompt, dice));
  const paragraphs = asked(prompt, 'paragraphs?') ?? 1;
  const out: string[] = [];
  let count = 0;
  for (let p = 0; p < Math.min(paragraphs, 500); p++) {
    const line: string[] = [];
    for (let i = 0; i < sentences && i < 20_000; i++) {
      const said = voice
        ? fill(voice.lines[(i + (i === 0 ? 0 : dice.int(2))) % voice.lines.length] ?? voice.lines[0], hints, dice)
        : fill(
            i === 0 ? dice.pick(OPENINGS) : i === sentences - 1 ? dice.pick(CLOSINGS) : dice.pick(MIDDLES),
            hints,
            dice,
          );
      line.push(said);
      count += said.split(' ').length;
      if (words !== undefined && count >= words) break;
    }
    out.push(line.join(' '));
  }
  const text = out.join('\n\n');
  return words === undefined
    ? text
    : text
        .split(' ')
        .slice(0, words)
        .join(' ')
        .replace(/[,;:—]?$/u, '.')
        .replace(/([.!?。])\.$/u, '$1');
}

function length(prompt: string, dice: Random): number {
  if (/\b(?:brief(?:ly)?|short|tl;?dr)\b/i.test(prompt)) return 1;
  if (/\b(?:essay|story|detailed|in detail|thorough|long)\b/i.test(prompt)) return 12 + dice.int(8);
  return 3 + dice.int(2);
}

/** The thinking that goes before an answer; more of it with more effort. */
export function ponder(prompt: string, seed: string, effort: string): string {
  const dice = random(`${seed}\nthinking\n${prompt}`);
  const hints = hintsOf(prompt);
  const steps = { low: 2, medium: 4, high: 8, xhigh: 12, max: 16 }[effort] ?? 3;
  const lines = [
    'The question is about {t}.',
    'First settle what {u} means here.',
    'Two readings are possible → take the plainer one.',
    'Check {n} against {t}…',
    'Nothing speaks against it ✓.',
    'Keep the answer short.',
  ];
  return Array.from({ length: steps }, (_, i) => fill(lines[i % lines.length] ?? '', hints, dice)).join(' ');
}

/** The final answer once tools have given their results. */
export function conclude(
  prompt: string,
  results: readonly { readonly name: string; readonly text: string }[],
  seed: string,
): string {
  const dice = random(`${seed}\nresults\n${prompt}`);
  const told = results.map(({ name, text }) => `${name || 'the tool'} says ${digest(text)}`);
  return `${dice.pick(['Here is what I found', 'Both feet on the ground', 'Done'] as const)}: ${told.join('; ')}. ${fill(dice.pick(CLOSINGS), hintsOf(prompt), dice)}`;
}

function digest(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) {
      const parts = Object.entries(value).map(
        ([key, v]) => `${key} ${typeof v === 'object' ? JSON.stringify(v) : String(v)}`,
      );
      return parts.slice(0, 12).join(', ') || 'nothing';
    }
    return String(value);
  } catch {
    const clean = text.replace(/\s+/g, ' ').trim();
    return clean.length > 400 ? `${[...clean].slice(0, 400).join('')}…` : clean || 'nothing';
  }
}

export function declines(prompt: string): boolean {
  return prompt.toLowerCase().includes(REFUSAL_PHRASE);
}

export const REFUSAL_TEXT = 'I’m sorry, but I can’t help with that.';
