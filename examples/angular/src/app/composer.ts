import { ChangeDetectionStrategy, Component, computed, ElementRef, inject, signal, viewChild } from '@angular/core';
import type { EndpointName } from 'rx-llm';
import { Conversation } from './conversation';
import { Settings } from './settings';

const IDEAS: Record<'text' | 'images', readonly string[]> = {
  text: [
    'Why does the sea have tides?',
    'Check the weather in Lisbon and Oslo',
    '静かな朝について、詩を書いてください',
    'Write a detailed essay about rivers in six paragraphs',
  ],
  images: ['A lighthouse in the fog', 'A tin robot watering flowers'],
};

@Component({
  selector: 'app-composer',
  changeDetection: ChangeDetectionStrategy.OnPush,
  host: { class: 'composer' },
  template: `
    <ul class="ideas" aria-label="Ideas">
      @for (idea of ideas(); track idea) {
        <li>
          <button type="button" (click)="send(idea)" [disabled]="conversation.active()">{{ idea }}</button>
        </li>
      }
    </ul>
    <form (submit)="$event.preventDefault(); send(draft())">
      <label class="visually-hidden" for="question">Your question</label>
      <textarea
        #question
        id="question"
        rows="1"
        autocomplete="off"
        [placeholder]="endpoint() === 'images' ? 'What should be painted?' : 'Ask something…'"
        [value]="draft()"
        (input)="draft.set(question.value)"
        (keydown.enter)="onEnter($event)"
        aria-describedby="keys"
      ></textarea>
      @if (conversation.active()) {
        <button type="button" class="stop" (click)="stop()">Stop</button>
      } @else {
        <button type="submit" class="send" [disabled]="!draft().trim()">Send</button>
      }
    </form>
    <p class="keys" id="keys"><kbd>Enter</kbd> sends · <kbd>Shift Enter</kbd> new line · <kbd>Esc</kbd> stops</p>
  `,
})
export class Composer {
  protected readonly conversation = inject(Conversation);
  private readonly question = viewChild.required<ElementRef<HTMLTextAreaElement>>('question');
  protected readonly endpoint = inject(Settings).endpoint;
  protected readonly draft = signal('');
  protected readonly ideas = computed(() => IDEAS[ideasFor(this.endpoint())]);

  protected send(text: string): void {
    if (!text.trim() || this.conversation.active()) return;
    this.draft.set('');
    this.conversation.send(text.trim());
    this.question().nativeElement.focus();
  }

  protected stop(): void {
    this.conversation.stop();
    this.question().nativeElement.focus();
  }

  protected onEnter(event: Event): void {
    // Shift makes a line; a composition (of Japanese, say) ends with Enter, and must not send.
    if (!(event instanceof KeyboardEvent) || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send(this.draft());
  }
}

function ideasFor(endpoint: EndpointName): keyof typeof IDEAS {
  return endpoint === 'images' ? 'images' : 'text';
}
