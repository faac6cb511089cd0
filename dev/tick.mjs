// Fires the cron triggers by the real clock, as Cloudflare would: nothing is caught up with, events
// may overlap, and a failure stops nothing.
import { parseCron } from "./cron.mjs";

const MINUTE = 60_000;

/** Fire `crons` through the runtime at `url`, each minute that they match. */
export function startTicking(url, crons) {
  const triggers = crons.map((cron) => ({ cron, fires: parseCron(cron) }));
  const waitForMinute = () => {
    const next = (Math.floor(Date.now() / MINUTE) + 1) * MINUTE;
    setTimeout(() => {
      for (const { cron, fires } of triggers) if (fires(new Date(next))) fire(url, cron);
      waitForMinute();
    }, next - Date.now());
  };
  waitForMinute();
}

async function fire(url, cron) {
  try {
    const answer = await fetch(`${url}/cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`);
    const text = await answer.text();
    if (!answer.ok) console.error(`cron "${cron}" failed: ${text}`);
  } catch (error) {
    console.error(`cron "${cron}" could not be fired: ${error.message}`);
  }
}
