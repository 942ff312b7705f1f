import type { ReaderFactory } from '../../concepts/concept.js';
import type { ToolCallSink } from '../../concepts/tools.js';
import { isCut } from '../../finish-reason.js';
import type { ToolCallDraft } from '../../tool-calls.js';
import { argumentsText, fields, list, nonblank, text, type Fields } from '../fields.js';
import type { MessageStreamEvent } from './wire.js';

interface Block {
  readonly draft: ToolCallDraft;
  /** The input that the block began with; deltas win over it. */
  readonly initial: string;
  stopped: boolean;
}

/** Reads `tool_use` blocks; `server_tool_use` and `mcp_tool_use` are the service's own. */
export const messagesTools: ReaderFactory<MessageStreamEvent, ToolCallSink> = (sink) => {
  if (sink.choice !== 0) return { next() {} };
  /** By the wire's index; gone when they stop. */
  const open = new Map<number, Block>();
  /** Not complete yet. */
  let unsettled: Block[] = [];
  let index = 0;

  const begin = (content: Fields): Block => {
    const draft = sink.drafts.add();
    draft.set('id', nonblank(content.id));
    draft.set('name', nonblank(content.name));
    const initial = argumentsText(content.input);
    // An empty input is a placeholder for what the deltas will bring.
    return { draft, initial: initial === '{}' ? '' : initial, stopped: false };
  };

  const stop = (block: Block): void => {
    block.stopped = true;
    if (block.draft.text === '') block.draft.append(block.initial);
  };

  const settle = (complete: (block: Block) => void): void => {
    if (unsettled.length === 0) return;
    const blocks = unsettled;
    unsettled = [];
    for (const block of blocks) {
      if (block.draft.name !== '') complete(block);
      if (block.draft.complete) sink.completed(block.draft);
      else unsettled.push(block);
    }
  };

  /** A text shows by itself that it is whole. Having none does not: the block may have been cut before it began. */
  const settleByText = (block: Block): void => {
    if (block.stopped && block.draft.hasJsonText()) block.draft.completeIfValid();
  };
  /** Of a block that stopped before another began nothing is missing. */
  const settleIfStopped = (block: Block): void => {
    if (block.stopped) block.draft.completeIfValid();
  };
  const settleIfCut = (block: Block): void => {
    stop(block);
    settleByText(block);
  };
  const settleAnyway = (block: Block): void => {
    stop(block);
    block.draft.completeAnyway();
  };

  const read = (event: MessageStreamEvent): void => {
    switch (event.type) {
      case 'content_block_delta': {
        const delta = fields(event.delta);
        if (delta.type !== 'input_json_delta') return;
        open.get(numberOr(event.index, index))?.draft.append(argumentsText(delta.partial_json));
        return;
      }
      case 'content_block_start': {
        settle(settleIfStopped);
        index = numberOr(event.index, index + 1);
        const content = fields(event.content_block);
        open.delete(index);
        if (content.type !== 'tool_use') return;
        const block = begin(content);
        open.set(index, block);
        unsettled.push(block);
        return;
      }
      case 'content_block_stop': {
        const stopped = numberOr(event.index, index);
        const block = open.get(stopped);
        if (block === undefined) return;
        open.delete(stopped);
        stop(block);
        settle(settleByText);
        return;
      }
      case 'message_start':
        // Content that is there from the start is whole.
        for (const content of list(fields(event.message).content)) {
          if (fields(content).type !== 'tool_use') continue;
          const block = begin(fields(content));
          stop(block);
          unsettled.push(block);
        }
        settle(settleIfStopped);
        return;
      case 'message_delta': {
        const reason = text(fields(event.delta).stop_reason);
        if (reason === '') return;
        settle(isCut(reason) ? settleIfCut : settleAnyway);
        // What is not complete now was cut.
        unsettled = [];
        return;
      }
      case 'message_stop':
        settle(settleAnyway);
        return;
    }
  };

  return {
    next(event) {
      read(event);
      if (sink.drafts.dirty) sink.changed();
    },
  };
};

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
