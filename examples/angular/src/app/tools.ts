import type { ToolCall } from 'rx-llm';

/** What the model may call. The three endpoints wrap the same description differently; see requests.ts. */
export const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city, now',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    },
    required: ['city', 'unit'],
  },
} as const;

const SKIES = ['rain', 'clear sky', 'fog', 'broken clouds', 'light snow'] as const;

/** Runs a call that is `valid`; what it returns goes back to the model. */
export function runTool({ name, input }: ToolCall): string {
  if (name !== WEATHER.name) return JSON.stringify({ error: `There is no tool ${name}` });
  const { city = '?', unit = 'celsius' } = Object(input) as { city?: string; unit?: string };
  const sum = [...city].reduce((total, letter) => total + letter.charCodeAt(0), 0);
  const celsius = (sum % 30) - 2;
  return JSON.stringify({
    city,
    sky: SKIES[sum % SKIES.length],
    temperature: unit === 'fahrenheit' ? Math.round(celsius * 1.8 + 32) : celsius,
  });
}
