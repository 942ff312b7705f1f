import { ChangeDetectionStrategy, Component, computed, inject } from '@angular/core';
import { AnswerView } from './answer';
import { Composer } from './composer';
import { Conversation } from './conversation';
import { SettingsPanel } from './settings-panel';

@Component({
  selector: 'app-root',
  imports: [AnswerView, Composer, SettingsPanel],
  changeDetection: ChangeDetectionStrategy.OnPush,
  host: { '(keydown.escape)': 'conversation.stop()' },
  template: `
    <a class="skip" href="#question">Skip to the question</a>

    <header class="masthead">
      <h1><span class="mark" aria-hidden="true">⟶</span> Streams and signals</h1>
      <p>rx-llm in an Angular application</p>
    </header>

    <app-settings-panel class="aside" />

    <main class="main">
      <!-- Laid out from the bottom up, so that what is new stays in view without a line of script. -->
      <div class="scroller" tabindex="0" role="region" aria-label="Conversation">
        <div class="log" role="log" aria-label="Answers" aria-live="polite" [attr.aria-busy]="conversation.active()">
          @for (turn of conversation.turns(); track turn.id) {
            <article class="turn" [attr.aria-label]="'Question ' + turn.id">
              <p class="question"><span class="visually-hidden">You asked: </span>{{ turn.question }}</p>
              @for (step of turn.steps; track $index) {
                <app-answer [answer]="step" [live]="$last && turn.id === last()" (again)="conversation.again()" />
              }
            </article>
          } @empty {
            <div class="welcome">
              <p class="large">Ask something, and watch the answer arrive.</p>
              <p>
                The answers come from a gateway on your own machine: it speaks Chat Completions, Responses, Messages and
                Images, calls tools, thinks aloud, and fails on request.
              </p>
            </div>
          }
        </div>
      </div>

      <p class="notice" role="status" aria-live="polite">
        @if (notice(); as text) {
          <span class="retry">{{ text }}</span>
        } @else {
          <span class="visually-hidden">{{ spoken() }}</span>
        }
      </p>

      <app-composer />
    </main>
  `,
})
export class App {
  protected readonly conversation = inject(Conversation);
  protected readonly last = computed(() => this.conversation.turns().at(-1)?.id);
  /** A retry that is waited for; it is over once something comes. */
  protected readonly notice = computed(() =>
    this.conversation.status() === 'connecting' ? this.conversation.notice() : '',
  );
  /** For those who listen: single tokens would be noise, the beginning and the end are news. */
  protected readonly spoken = computed(() => SPOKEN[this.conversation.status()]);
}

const SPOKEN = {
  idle: '',
  connecting: 'The question was sent.',
  streaming: 'The answer is arriving.',
  done: 'The answer is complete.',
  failed: 'The answer has failed.',
  stopped: 'The answer was stopped.',
} as const;
