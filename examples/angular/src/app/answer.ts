import { DecimalPipe } from '@angular/common';
import { ChangeDetectionStrategy, Component, computed, input, output } from '@angular/core';
import { isLlmStreamError, type LlmErrorKind } from 'rx-llm';
import type { Answer } from './conversation';
import { ToolCallView } from './tool-call';

@Component({
  selector: 'app-answer',
  imports: [DecimalPipe, ToolCallView],
  changeDetection: ChangeDetectionStrategy.OnPush,
  host: { class: 'answer', '[attr.data-status]': 'answer().status' },
  template: `
    @let it = answer();

    @if (it.reasoning) {
      <details class="reasoning" [open]="thinks()">
        <summary>{{ thinks() ? 'Thinking…' : 'Thought first' }}</summary>
        <p>{{ it.reasoning }}</p>
      </details>
    }

    @if (it.status === 'connecting') {
      <p class="waiting" aria-hidden="true"><i></i><i></i><i></i></p>
    }

    <div class="text" [class.growing]="it.status === 'streaming' && it.text">
      @for (block of it.blocks; track block.key) {
        <div class="block">{{ block.text }}</div>
      }
    </div>

    @if (it.picture; as picture) {
      <figure class="picture" [class.rough]="picture.partial && it.status === 'streaming'">
        <img [src]="source()" [alt]="picture.partial ? 'The picture, still forming' : 'The finished picture'" />
        <figcaption>
          {{ picture.partial ? 'Draft ' + ((picture.partialIndex ?? 0) + 1) : 'Finished' }}
          @if (picture.size) {
            · {{ picture.size }}
          }
        </figcaption>
      </figure>
    }

    @for (call of it.toolCalls; track call.key) {
      <app-tool-call [call]="call" [result]="it.results[call.id]" />
    }

    @if (it.status === 'failed') {
      <div class="failure">
        <p>
          <strong>{{ failure().title }}</strong> {{ failure().advice }}
        </p>
        <details>
          <summary>Details</summary>
          <code>{{ failure().detail }}</code>
        </details>
      </div>
    }

    @if (it.status !== 'connecting' && it.status !== 'streaming') {
      <footer class="receipt">
        @if (it.status === 'stopped') {
          <span class="tag">Stopped</span>
        }
        @if (it.finish === 'length') {
          <span class="tag">Cut by the token limit</span>
        }
        @if (it.usage; as usage) {
          <span>{{ usage.inputTokens | number }} tokens in</span>
          <span>{{ usage.outputTokens | number }} out</span>
          @if (usage.reasoningTokens) {
            <span>{{ usage.reasoningTokens | number }} of them thinking</span>
          }
          @if (usage.costUsd) {
            <span>\${{ usage.costUsd | number: '1.2-6' }}</span>
          }
        }
        @if (live() && it.status !== 'done') {
          <button type="button" class="quiet" (click)="again.emit()">Ask again</button>
        }
      </footer>
    }
  `,
})
export class AnswerView {
  readonly answer = input.required<Answer>();
  /** The newest answer, which may be asked for again. */
  readonly live = input(false);
  readonly again = output();

  protected readonly thinks = computed(() => this.answer().status === 'streaming' && this.answer().text === '');

  protected readonly source = computed(() => {
    const { b64, url, mediaType = 'image/png' } = this.answer().picture ?? {};
    return b64 ? `data:${mediaType};base64,${b64}` : url;
  });

  protected readonly failure = computed(() =>
    describe(this.answer().error, this.answer().text !== '' || this.answer().reasoning !== ''),
  );
}

const TITLES: Record<LlmErrorKind, string> = {
  http: 'The gateway refused the question.',
  'in-band': 'The model reported a failure.',
  truncated: 'The connection broke.',
  malformed: 'The answer could not be read.',
  limit: 'The answer was too large.',
  timeout: 'The answer took too long.',
  connection: 'The gateway could not be reached.',
};

function describe(error: unknown, kept: boolean): { title: string; advice: string; detail: string } {
  const advice = kept ? 'What came before stays.' : '';
  if (!isLlmStreamError(error)) return { title: 'Something went wrong.', advice, detail: String(error) };
  const title = error.kind === 'http' && error.status === 401 ? 'The key was not accepted.' : TITLES[error.kind];
  return { title, advice, detail: error.message };
}
