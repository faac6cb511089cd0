// The demo services that stand in for what is not configured, each on a loopback port of its own.
import fs from "node:fs";

/**
 * Start demo services for the outside services that `vars` does not set, and set them in it. They
 * live in this process and end with it. Returns the lines that tell the user so.
 */
export async function startDemos(vars) {
  const lines = [];
  if (!("GITHUB_TOKEN" in vars)) {
    const github = await start("./demo_github.mjs", "startDemoGithub");
    if (github !== null) {
      Object.assign(vars, { GITHUB_API_URL: github.url, GITHUB_TOKEN: github.token });
      lines.push(`demo GitHub at ${github.url} (no GITHUB_TOKEN is set)`);
    }
  }
  if (!("MODEL_BASE_URL" in vars)) {
    const model = await start("./demo_model.mjs", "startDemoModel");
    if (model !== null) {
      const { url, token, model: name } = model;
      Object.assign(vars, { MODEL_BASE_URL: url, MODEL_API_KEY: token, MODEL: name });
      lines.push(`demo model "${name}" at ${url} (no MODEL_BASE_URL is set)`);
    }
  }
  return lines;
}

async function start(module, name) {
  const url = new URL(module, import.meta.url);
  if (!fs.existsSync(url)) return null;
  return (await import(url.href))[name]({ port: 0 });
}
