import { DecimalPipe } from '@angular/common';
import { ChangeDetectionStrategy, Component, DOCUMENT, inject } from '@angular/core';
import { Conversation } from './conversation';
import { ENDPOINTS, REHEARSALS, Settings } from './settings';

@Component({
  selector: 'app-settings-panel',
  imports: [DecimalPipe],
  changeDetection: ChangeDetectionStrategy.OnPush,
  template: `
    <details [open]="wide">
      <summary>Request</summary>

      <fieldset>
        <legend>Endpoint</legend>
        @for (endpoint of endpoints; track endpoint.name) {
          <label class="choice">
            <input
              type="radio"
              name="endpoint"
              [value]="endpoint.name"
              [checked]="settings.endpoint() === endpoint.name"
              (change)="settings.endpoint.set(endpoint.name)"
            />
            <span>{{ endpoint.label }}</span>
          </label>
        }
      </fieldset>

      <fieldset>
        <legend>Sent by</legend>
        @for (transport of transports; track transport.name) {
          <label class="choice">
            <input
              type="radio"
              name="transport"
              [value]="transport.name"
              [checked]="settings.transport() === transport.name"
              (change)="settings.transport.set(transport.name)"
            />
            <span>{{ transport.label }}</span>
          </label>
        }
      </fieldset>

      <fieldset>
        <legend>Answer</legend>
        <label class="choice">
          <input
            type="checkbox"
            name="thinking"
            [checked]="settings.thinking()"
            (change)="settings.thinking.set(!settings.thinking())"
          />
          <span>Thinks aloud</span>
        </label>
        <label class="choice">
          <input
            type="checkbox"
            name="fast"
            [checked]="settings.fast()"
            (change)="settings.fast.set(!settings.fast())"
          />
          <span>As fast as it can</span>
        </label>
      </fieldset>

      <label class="field">
        <span>Rehearse</span>
        <select name="fault" #fault (change)="settings.fault.set(fault.value)">
          @for (rehearsal of rehearsals; track rehearsal.fault) {
            <option [value]="rehearsal.fault" [selected]="settings.fault() === rehearsal.fault">
              {{ rehearsal.label }}
            </option>
          }
        </select>
      </label>
    </details>

    @let totals = conversation.totals();
    <section class="totals" aria-labelledby="totals-title">
      <h2 id="totals-title">So far</h2>
      <dl>
        <div>
          <dt>Tokens in</dt>
          <dd>{{ totals.input | number }}</dd>
        </div>
        <div>
          <dt>Tokens out</dt>
          <dd>{{ totals.output | number }}</dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>\${{ totals.costUsd | number: '1.4-6' }}</dd>
        </div>
      </dl>
      <button type="button" class="quiet" (click)="conversation.clear()" [disabled]="conversation.turns().length === 0">
        New conversation
      </button>
    </section>
  `,
})
export class SettingsPanel {
  protected readonly settings = inject(Settings);
  protected readonly conversation = inject(Conversation);
  protected readonly endpoints = ENDPOINTS;
  protected readonly rehearsals = REHEARSALS;
  /** Folded away where there is no room beside the conversation. */
  protected readonly wide = inject(DOCUMENT).defaultView?.matchMedia?.('(min-width: 50rem)').matches ?? true;
  protected readonly transports = [
    { name: 'http-client', label: 'HttpClient' },
    { name: 'fetch', label: 'fetch' },
  ] as const;
}
