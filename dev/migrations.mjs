// Applies D1 migrations through miniflare's own binding, and keeps the books as wrangler does: what
// `wrangler d1 migrations apply DB --local --persist-to STATE` and a start have applied agree.
import fs from "node:fs";
import path from "node:path";

/** Apply the migrations that were not applied yet, in the order of their names; return those. */
export async function applyMigrations(database, { migrations, table }) {
  if (!fs.existsSync(migrations)) return [];
  await database
    .prepare(
      `CREATE TABLE IF NOT EXISTS "${table}" (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
       applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`,
    )
    .run();
  const { results } = await database.prepare(`SELECT name FROM "${table}"`).all();
  const done = new Set(results.map((row) => row.name));
  const names = fs.readdirSync(migrations).filter((name) => name.endsWith(".sql") && !done.has(name));
  if (names.length === 0) return [];
  const { unstable_splitSqlQuery: splitSql } = await import("wrangler"); // Slow to load: only now.
  for (const name of names.sort()) {
    const statements = splitSql(fs.readFileSync(path.join(migrations, name), "utf8"));
    await database.batch([
      ...statements.map((statement) => database.prepare(statement)),
      database.prepare(`INSERT INTO "${table}" (name) VALUES (?)`).bind(name),
    ]);
  }
  return names;
}
