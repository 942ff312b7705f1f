/** A question, its answer as it comes, and a button that stops it. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>A relay</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="data:," />
    <style>
      body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
      form { display: flex; gap: 0.5rem; }
      input { flex: 1; padding: 0.5rem; font: inherit; }
      button { padding: 0.5rem 1rem; font: inherit; }
      output { display: block; margin-top: 1.5rem; white-space: pre-wrap; }
    </style>
  </head>
  <body>
    <h1>A relay</h1>
    <form>
      <input name="prompt" aria-label="Your question" value="Why is the sky blue?" required />
      <button>Ask</button>
      <button type="button" id="stop" disabled>Stop</button>
    </form>
    <output></output>
    <p role="status"></p>
    <script>
      const [form, output, status, stop] = ['form', 'output', '[role=status]', '#stop'].map((s) => document.querySelector(s));
      let source;

      function end(word) {
        source?.close();
        source = undefined;
        stop.disabled = true;
        status.textContent = word;
      }

      form.addEventListener('submit', (event) => {
        event.preventDefault();
        end('…');
        output.textContent = '';
        stop.disabled = false;
        source = new EventSource('/chat?' + new URLSearchParams(new FormData(form)));
        source.onmessage = ({ data }) => {
          // Without this the EventSource would take the end for a broken connection, and come again.
          if (data === '[DONE]') return end(status.textContent === '…' ? 'Done.' : status.textContent);
          const { choices, error } = JSON.parse(data);
          if (error) status.textContent = error.message;
          else output.append(choices?.[0]?.delta?.content ?? '');
        };
        source.onerror = () => end('The answer broke off, or was refused.');
      });
      stop.addEventListener('click', () => end('Stopped.'));
    </script>
  </body>
</html>
`;
