// The tick in plain JavaScript, as fast as this platform lets it be: the same reads, swaps, batches
// and instances against the same kinds of stores. It is the floor that the bot is held against, and
// no more than that: no zones, no refusals, no faults, no records for people.
import { DurableObject, WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
import { nextFire } from "./cron.mjs";

const CLAIM_BATCH = 25;
const PREFIX = "schedules.";
let cached = { version: -1, entries: {} };

export class ConfigDO extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.sql = ctx.storage.sql;
    this.sql.exec("CREATE TABLE IF NOT EXISTS documents (tier TEXT PRIMARY KEY, version INTEGER)");
    this.sql.exec("CREATE TABLE IF NOT EXISTS entries (tier TEXT, key TEXT, value TEXT, PRIMARY KEY (tier, key))");
  }

  #version(tier) {
    return this.sql.exec("SELECT version FROM documents WHERE tier = ?", tier).toArray()[0]?.version ?? 0;
  }

  read(tier, known) {
    const version = this.#version(tier);
    if (version === known) return null;
    const rows = this.sql.exec("SELECT key, value FROM entries WHERE tier = ? ORDER BY key", tier);
    const entries = [...rows].map(({ key, value }) => `${JSON.stringify(key)}:${value}`);
    return `{"version":${version},"entries":{${entries.join(",")}}}`;
  }

  swap(tier, expected, text) {
    return this.ctx.storage.transactionSync(() => {
      const version = this.#version(tier);
      if (version !== expected) return { won: false, version };
      for (const [key, value] of Object.entries(JSON.parse(text))) {
        this.sql.exec("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", tier, key, JSON.stringify(value));
      }
      this.sql.exec("INSERT OR REPLACE INTO documents VALUES (?, ?)", tier, version + 1);
      return { won: true, version: version + 1 };
    });
  }
}

export class ScheduleDO extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.sql = ctx.storage.sql;
    this.sql.exec("CREATE TABLE IF NOT EXISTS firings (key TEXT PRIMARY KEY, name TEXT, claimed_at INTEGER, value TEXT)");
    this.sql.exec("CREATE TABLE IF NOT EXISTS ticks (at INTEGER, ms INTEGER)");
  }

  record(text) {
    this.ctx.storage.transactionSync(() => {
      for (const firing of JSON.parse(text)) {
        const { key, name, claimed_at: at } = firing;
        this.sql.exec("INSERT OR REPLACE INTO firings VALUES (?, ?, ?, ?)", key, name, at, JSON.stringify(firing));
      }
    });
  }

  recordTick(at, ms) {
    this.sql.exec("INSERT INTO ticks VALUES (?, ?)", at, ms);
  }
}

/** A run of a command: the bot's steps, with the writes that each of them makes. */
export class RunFlow extends WorkflowEntrypoint {
  async run(event, step) {
    const { id } = event.payload;
    const db = this.env.DB;
    const thread = `web:general/${id}`;
    await step.do("open", async () => {
      await db.prepare("UPDATE runs SET started_at = 1, touched_at = 1 WHERE id = ?").bind(id).run();
      await db.batch([
        db.prepare("INSERT OR IGNORE INTO threads VALUES (?, 'web:general', 'lead', 1, 1)").bind(thread),
        db.prepare("INSERT OR IGNORE INTO messages VALUES (?, ?, 'bot', 'lead', ?, 1)").bind(`lead-${id}`, thread, id),
      ]);
      await db.prepare("UPDATE runs SET thread = ? WHERE id = ?").bind(thread, id).run();
    });
    await step.do("act", async () => {
      await db.prepare("UPDATE runs SET touched_at = 2 WHERE id = ?").bind(id).run();
    });
    await step.do("deliver", async () => {
      await db.prepare("INSERT OR IGNORE INTO messages VALUES (?, ?, 'bot', 'out', ?, 2)").bind(id, thread, id).run();
    });
    await step.do("finish", async () => {
      await db.prepare("UPDATE runs SET state = 'ok', finished_at = 3 WHERE id = ?").bind(id).run();
      await this.env.SCHEDULES.getByName("history").record(JSON.stringify([{ key: id, name: id, claimed_at: 3 }]));
    });
  }
}

export default class extends WorkerEntrypoint {
  async fetch(request) {
    const url = new URL(request.url);
    if (url.pathname === "/rows") return this.#store(await request.json());
    if (url.pathname === "/tick") return this.#tick(Number(url.searchParams.get("now")));
    return Response.json(await this.#live());
  }

  async #live() {
    return this.env.DB.prepare("SELECT COUNT(*) AS n FROM runs WHERE state = 'running'").first();
  }

  async #store(rows) {
    const { version } = await this.#read();
    const changes = Object.fromEntries(rows.map((row) => [PREFIX + row.name, row]));
    return Response.json(await this.#swap(version, changes));
  }

  async #read() {
    const text = await this.env.CONFIG.getByName("documents").read("org", cached.version);
    if (text !== null) cached = JSON.parse(text);
    return cached;
  }

  async #swap(version, changes) {
    const swap = await this.env.CONFIG.getByName("documents").swap("org", version, JSON.stringify(changes));
    if (swap.won) cached = { version: swap.version, entries: { ...cached.entries, ...changes } };
    return swap;
  }

  async #tick(now) {
    const started = Date.now();
    let { version, entries } = await this.#read();
    const rows = Object.entries(entries).filter(([key]) => key.startsWith(PREFIX)).map(([, row]) => row);
    const due = rows.filter((row) => row.enabled && nextFire(row.cron, row.lastFiredAt ?? row.createdAt) <= now);
    const runs = [];
    for (let start = 0; start < due.length; start += CLAIM_BATCH) {
      const batch = due.slice(start, start + CLAIM_BATCH);
      const dueAt = now - (now % 60_000);
      const claims = batch.map((row) => ({ ...row, lastFiredAt: now, lastDueAt: dueAt, lastRunId: undefined }));
      const swap = await this.#swap(version, Object.fromEntries(claims.map((row) => [PREFIX + row.name, row])));
      if (!swap.won) break;
      version = swap.version;
      const admitted = claims.map((row) => ({ id: `${row.id}-${dueAt}`, name: row.name, text: row.text, due_at: dueAt }));
      runs.push(...(await this.#admit(admitted, now)));
    }
    if (runs.length > 0) {
      const firings = runs.map(({ id, name }) => ({ key: id, name, claimed_at: now, state: "running" }));
      await this.env.SCHEDULES.getByName("history").record(JSON.stringify(firings));
      const document = await this.#read();
      const ids = runs.map(({ id, name }) => [PREFIX + name, { ...document.entries[PREFIX + name], lastRunId: id }]);
      await this.#swap(document.version, Object.fromEntries(ids));
    }
    await this.env.DB.prepare("SELECT * FROM jobs WHERE next_at <= ? ORDER BY next_at LIMIT 200").bind(now).run();
    if (runs.length > 0) await this.env.RUNS.createBatch(runs.map(({ id }) => ({ id, params: { id } })));
    const ms = Date.now() - started;
    this.ctx.waitUntil(this.env.SCHEDULES.getByName("history").recordTick(now, ms));
    return Response.json({ ms, due: due.length, started: runs.length });
  }

  async #admit(runs, now) {
    const insert = `INSERT INTO runs (id, actor, grants, source, name, due_at, text, state, admitted_at, touched_at)
      SELECT value ->> 'id', 'schedule:' || (value ->> 'name'), '[]', 'schedule', value ->> 'name',
             value ->> 'due_at', value ->> 'text', 'running', ?2, ?2
      FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING RETURNING id`;
    const statement = this.env.DB.prepare(insert).bind(JSON.stringify(runs), now);
    const [inserted] = await this.env.DB.batch([statement, statement]);
    const ids = new Set(inserted.results.map((row) => row.id));
    return runs.filter((run) => ids.has(run.id));
  }
}
