// The lunch bot on Slack's Bolt for JavaScript. Nothing in it knows of a sandbox.

const { App, LogLevel } = require("@slack/bolt");

const app = new App({
  token: process.env.SLACK_BOT_TOKEN,
  appToken: process.env.SLACK_APP_TOKEN,
  socketMode: true,
  logLevel: LogLevel.ERROR,
  clientOptions: process.env.SLACK_API_URL ? { slackApiUrl: process.env.SLACK_API_URL } : {},
});

const question = (place, coming) => [
  { type: "section", text: { type: "mrkdwn", text: `Lunch at *${place}*? Coming: ${coming || "nobody yet"}` } },
  { type: "actions", elements: [{ type: "button", action_id: "come", text: { type: "plain_text", text: "I come" }, value: place }] },
];

app.command("/lunch", async ({ ack, body, client, say }) => {
  await ack();
  if (body.text) {
    await say({ text: `Lunch at ${body.text}?`, blocks: question(body.text) });
    return;
  }
  const view = {
    type: "modal", callback_id: "lunch", private_metadata: body.channel_id, title: { type: "plain_text", text: "Lunch" },
    submit: { type: "plain_text", text: "Ask" },
    blocks: [{ type: "input", block_id: "place", label: { type: "plain_text", text: "Where?" }, element: { type: "plain_text_input", action_id: "name" } }],
  };
  await client.views.open({ trigger_id: body.trigger_id, view });
});

app.view("lunch", async ({ ack, view, client }) => {
  await ack();
  const place = view.state.values.place.name.value;
  await client.chat.postMessage({ channel: view.private_metadata, text: `Lunch at ${place}?`, blocks: question(place) });
});

app.action("come", async ({ ack, body, client }) => {
  await ack();
  const place = body.actions[0].value;
  await client.chat.update({ channel: body.channel.id, ts: body.message.ts, text: `Lunch at ${place}?`, blocks: question(place, `<@${body.user.id}>`) });
});

app.event("app_mention", async ({ event, say }) => {
  await say({ text: "Use /lunch to ask who comes.", thread_ts: event.ts });
});

app.start();
