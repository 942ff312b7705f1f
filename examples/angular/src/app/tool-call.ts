import { ChangeDetectionStrategy, Component, computed, input } from '@angular/core';
import type { ToolCall } from 'rx-llm';

@Component({
  selector: 'app-tool-call',
  changeDetection: ChangeDetectionStrategy.OnPush,
  host: { class: 'tool', '[class.open]': '!call().complete' },
  template: `
    <p class="tool-head">
      <span class="tool-name">{{ call().name }}</span>
      <span class="tool-state">{{ state() }}</span>
    </p>
    <code class="tool-args">{{ call().arguments || '…' }}</code>
    @if (result(); as text) {
      <code class="tool-result"><span class="visually-hidden">Result: </span>{{ text }}</code>
    }
  `,
})
export class ToolCallView {
  readonly call = input.required<ToolCall>();
  readonly result = input<string>();

  protected readonly state = computed(() => {
    const { complete, valid } = this.call();
    if (this.result() !== undefined) return 'done';
    if (!complete) return 'being written';
    return valid ? 'called' : 'cut off, not called';
  });
}
