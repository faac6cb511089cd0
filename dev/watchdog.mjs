// Sees to it that workerd does not outlive this process, also when this one is killed outright.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";

/**
 * Have this process's present children killed when it ends, however it ends. Returns what ends the
 * watch itself and waits for that.
 */
export function killChildrenWithUs() {
  // The shell waits for its standard input, which closes together with this process.
  const watchdog = spawn("sh", ["-c", 'read -r _; kill -9 "$@"', "watchdog", ...childProcesses()], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  return async () => {
    const ended = once(watchdog, "exit");
    watchdog.kill("SIGKILL");
    await ended;
  };
}

function childProcesses() {
  const list = `/proc/self/task/${process.pid}/children`;
  const text = fs.existsSync(list)
    ? fs.readFileSync(list, "utf8")
    : execFileSync("pgrep", ["-P", String(process.pid)], { encoding: "utf8" });
  return text.trim().split(/\s+/);
}
