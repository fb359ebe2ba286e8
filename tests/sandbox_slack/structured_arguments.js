// Calls with lists and objects through the client of Bolt for JavaScript, which sends each as a form.
// Prints a line for each: its name, and "ok" or what went wrong.
const { App } = require('@slack/bolt');

const app = new App({
  token: process.env.SLACK_BOT_TOKEN,
  signingSecret: 'not used here',
  clientOptions: { slackApiUrl: process.env.SLACK_API_URL, retryConfig: { retries: 0 } },
});
const client = app.client;

async function control(call, body) {
  const answer = await fetch(process.env.CONTROL + call, { method: 'POST', body: JSON.stringify(body) });
  return answer.json();
}

async function attempt(name, work) {
  try {
    await work();
    console.log(`${name}: ok`);
  } catch (error) {
    console.log(`${name}: ${error.message}`);
  }
}

async function main() {
  const channel = (await client.conversations.open({ users: 'U0ALICE' })).channel.id;
  const thread_ts = (await client.chat.postMessage({ channel, text: 'Hello' })).ts;
  await attempt('chatStream', async () => {
    const stream = client.chatStream({ channel, thread_ts, buffer_size: 1 });
    await stream.append({ markdown_text: 'First ' });
    await stream.append({ chunks: [{ type: 'task_update', id: '1', title: 'Look', status: 'in_progress' }] });
    await stream.stop({ blocks: [{ type: 'divider' }] });
    const shown = await client.conversations.replies({ channel, ts: thread_ts });
    if (!shown.messages.at(-1).text.includes('First')) throw new Error('the text did not arrive');
  });
  await attempt('chunks', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const { ts } = await client.chat.startStream({
      channel, thread_ts, chunks: [{ type: 'markdown_text', text: 'Hello' }], task_display_mode: 'plan',
    });
    await client.chat.stopStream({ channel, ts, chunks: [{ type: 'markdown_text', text: ' again' }] });
  });
  await attempt('unfurl', async () => {
    const link = 'https://shop.example/1';
    const { outcome } = await control('act/message', { user: 'U0ALICE', channel: 'C0OPS', text: `See ${link}` });
    await client.chat.unfurl({ channel: 'C0OPS', ts: outcome.ts, unfurls: { [link]: { text: 'A shop' } } });
  });
  await attempt('setStatus', () => client.assistant.threads.setStatus({
    channel_id: channel, thread_ts, status: 'is thinking', loading_messages: ['Reading', 'Thinking'],
  }));
  await attempt('markdown_text', async () => {
    const { ts } = await client.chat.postMessage({ channel: 'C0OPS', markdown_text: '**Hello**' });
    if (!ts) throw new Error('no message');
  });
  process.exit(0);
}

main();
