"""The contents of the showroom: one body for every kind of ask, as in real work."""

from datetime import UTC, datetime, timedelta

from handraise.model.asks import Offer, Option, Permission, Prompt, Question
from handraise.model.rules import Rule

NOW = datetime.now(UTC)
SHOP, PAY, DOCS = "/home/ann/web-shop", "/home/ann/payments", "/home/ann/handbook"

DIFF = """@@ -12,9 +12,14 @@
 export function limiter(options) {
-  const hits = new Map();
+  const hits = new LRU({ max: options.clients ?? 10_000 });
   return async function limit(request, next) {
     const key = request.ip;
-    const seen = hits.get(key) ?? 0;
-    if (seen > options.most) return tooMany();
-    hits.set(key, seen + 1);
+    const window = Math.floor(Date.now() / options.span);
+    const seen = hits.get(`${key}:${window}`) ?? 0;
+    if (seen >= options.most) {
+      return tooMany({ retryAfter: options.span - (Date.now() % options.span) });
+    }
+    hits.set(`${key}:${window}`, seen + 1);
     return next(request);
   };
 }
"""
PLAN = """# Move orders to PostgreSQL

SQLite holds up the checkout when two carts are paid at once.

1. **Schema**: `db/schema.sql` gains `orders`, `order_lines` and an index on `placed_at`.
2. **Store**: `store/orders.py` talks to `asyncpg`; the interface stays as it is.
3. **Copy**: `bin/copy-orders` moves what is there, in batches of 500, and can be run twice.
4. Tests run against both until the switch.

| step | how long | can be undone |
|---|---|---|
| schema | minutes | yes |
| copy | about an hour | yes |
| switch | seconds | until the first new order |

```sql
create index orders_placed_at on orders (placed_at desc);
```
"""
WORDS = """The limiter counts **per process**, so three workers let three times as much through.

- `limiter.js` keeps its counts in a `Map` that never forgets
- nobody sends `Retry-After`

```js
if (seen > options.most) return tooMany();
hits.set(key, seen + 1);
```

I'd rather count by window, and bound the memory. More about it in [the RFC](https://www.rfc-editor.org/rfc/rfc6585).
"""
FORM = {
    "type": "object",
    "properties": {
        "version": {"type": "string", "title": "Version", "description": "Such as 2.4.0", "minLength": 1},
        "stage": {"type": "string", "title": "Stage", "enum": ["staging", "production"]},
        "replicas": {"type": "integer", "title": "Replicas", "minimum": 1, "maximum": 9, "default": 2},
        "regions": {"type": "array", "title": "Regions", "items": {"type": "string", "enum": ["eu", "us", "asia"]}},
        "announce": {"type": "boolean", "title": "Announce it", "default": False},
    },
    "required": ["version", "stage"],
}


def ago(minutes: float) -> datetime:
    return NOW - timedelta(minutes=minutes)


def offers(command: str) -> tuple[Offer, ...]:
    rules = (Rule("", "allow", tool="Bash", command=command),)
    return (
        Offer("session", f"Allow every `{command}` in this session.", rules),
        Offer("always", f"Allow every `{command}` in this project.", rules),
    )


NPM_TEST = Permission("Bash", {"command": "npm test"}, "Run the tests", offers=offers("npm test"))
EDIT = Permission(
    "Edit",
    {"file_path": f"{SHOP}/src/limiter.js", "old_string": "new Map()", "new_string": "new LRU()"},
    diff=DIFF,
    offers=(Offer("session", "Allow every change to files in `src` in this session.", ()),),
)
DATABASE = Question(
    (
        Prompt(
            "Which database should the orders live in?",
            "Database",
            (
                Option("PostgreSQL", "What the other services use; needs a server", "DATABASE_URL=postgresql://…"),
                Option("SQLite", "One file, as now; one writer at a time", "DATABASE_URL=sqlite:///orders.db"),
                Option("Both", "SQLite for tests, PostgreSQL where it counts"),
            ),
        ),
        Prompt(
            "What has to be kept from before?",
            "Keep",
            (
                Option("Orders", "All of them"),
                Option("Carts", "Only open ones"),
                Option("Sessions", "People log in again otherwise"),
            ),
            True,
        ),
        Prompt("What should the migration be called?", "Name"),
    )
)


BRANCH = Question((Prompt("May I delete the branch `old-checkout`?", "Branch", (Option("Yes"), Option("No"))),))
PUSH = Permission("Bash", {"command": "git push --force origin main"}, "Publish")
